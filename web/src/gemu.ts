// The module of the page: it defines all elements. docs/play.md describes how other pages embed them.

import './elements/flow.ts';
import './elements/memory.ts';
import './elements/player.ts';
import './elements/program.ts';
import './elements/registers.ts';
import './elements/strip.ts';
import './elements/warp.ts';

export { Recording, RecordingError } from './recording.ts';
export { launchesOf } from './model.ts';
export { sentence, text as sentenceText } from './sentences.ts';
