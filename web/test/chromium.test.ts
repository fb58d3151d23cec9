// All tests in Chromium, in one process and one browser.

import './page.ts';
import './pages.ts';
import './play-page.ts';
import './widget.ts';
import './jupyter.ts';
