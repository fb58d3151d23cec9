// <gemu-player>: the page. Runs of a kernel, one for each policy, with one playhead.

import { html, LitElement, nothing, type PropertyDeclarations } from 'lit';
import { type Engine, type Example, type Policy, type Request, type Response, engineOf } from '../engine.ts';
import { type Lanes, equal, fromMembers, has, inWords, isEmpty, members, noLanes, or, size, without } from '../lanes.ts';
import { type Launch, launchesOf, type WarpModel } from '../model.ts';
import { blocks, inline } from '../markdown.ts';
import { type Place, checkPlace, fromHash, toHash } from '../permalink.ts';
import { Recording } from '../recording.ts';
import { docOf, launchOf, policiesToRun, warpSizes } from '../request.ts';
import { capital, isDeadlock, limitText, nounVerb, sentence, text } from '../sentences.ts';
import type { Editor, Mark } from '../editor.ts';
import { clamp, hue, plural, tokens } from './tokens.ts';
import { pageStyles } from './player-styles.ts';
import type { View } from './strip.ts';

/** Run is a run of the kernel under a policy, or a launch of a recording. */
interface Run {
  /** label is the policy, or the name of the recording. */
  label: string;
  response?: Response;
  launch?: Launch;
  busy: boolean;
  /** failure is the reason why there is no recording. */
  failure: string;
}

/** Start is the content of the page's element gemu-start (play.Start). */
interface Start {
  engine?: string;
  request?: Request;
  policies?: string[];
  example?: string;
  recordings?: { name: string; base64: string }[];
  knownPolicies?: Policy[];
}

const panes = [
  ['registers', 'Registers'],
  ['memory', 'Memory'],
  ['flow', 'Control flow'],
  ['results', 'Results'],
] as const;

/** narrowPage matches pages that are too narrow for two columns (player-styles.ts). */
const narrowPage = matchMedia('(max-width: 900px)');

const defaultMaxEvents = 200_000;
const playInterval = 500; // milliseconds

export class GemuPlayer extends LitElement {
  static override properties: PropertyDeclarations = {
    src: {},
    runs: { state: true },
    main: { state: true },
    step: { state: true },
    warpIndex: { state: true },
    lane: { state: true },
    register: { state: true },
    hex: { state: true },
    narrow: { state: true },
    view: { state: true },
    pane: { state: true },
    predict: { state: true },
    revealed: { state: true },
    picked: { state: true },
    verdict: { state: true },
    hover: { state: true },
    lines: { state: true },
    playing: { state: true },
    editing: { state: true },
    example: { state: true },
    examples: { state: true },
    message: { state: true },
    marks: { state: true },
    faults: { state: true },
    link: { state: true },
    policies: { state: true },
    known: { state: true },
    request: { state: true },
    dropping: { state: true },
    help: { state: true },
    licenses: { state: true },
  };

  static override styles = [tokens, pageStyles];

  src = '';
  runs: Run[] = [];
  main = 0;
  step = 0;
  warpIndex = 0;
  lane = -1;
  register = '';
  /** hex shows numbers in hexadecimal. */
  hex = false;
  /** narrow reports that the columns are one below the other. */
  narrow = false;
  view?: View;
  pane: string = 'registers';
  predict = false;
  revealed = Infinity;
  picked: Lanes = noLanes;
  verdict?: { right: boolean; text: string };
  hover = '';
  lines: Set<number> = new Set();
  playing = false;
  editing = false;
  example?: Example;
  examples: Example[] = [];
  message = '';
  marks: Mark[] = [];
  /** faults is the messages of wrong fields of the form, by name. */
  faults: Record<string, string> = {};
  link = '';
  policies: string[] = ['stack'];
  /** known is the policies that the engine has. */
  known: Policy[] = [];
  request?: Request;
  dropping = false;
  help = false;
  licenses = '';

  private engine?: Engine;
  /** keys is the target of keys: the window if the player is the whole page, which has an element gemu-start; else the player. */
  private keys?: EventTarget;
  private abort?: AbortController;
  private timer = 0;
  private editor?: Editor;
  private firstStep?: Place;
  /** zoomed reports that the reader, or a link, has chosen the visible steps. */
  private zoomed = false;

  // The start.

  override connectedCallback(): void {
    super.connectedCallback();
    this.addEventListener('gemu-step', this.onStep as EventListener);
    this.addEventListener('gemu-hover', this.onHover as EventListener);
    this.addEventListener('gemu-lines', ((e: CustomEvent) => (this.lines = e.detail.lines)) as EventListener);
    this.addEventListener('gemu-lane', ((e: CustomEvent) => (this.lane = e.detail.lane)) as EventListener);
    this.addEventListener('gemu-register', ((e: CustomEvent) => (this.register = this.register === e.detail.name ? '' : e.detail.name)) as EventListener);
    this.addEventListener('gemu-hex', ((e: CustomEvent) => (this.hex = e.detail.hex)) as EventListener);
    this.addEventListener('gemu-zoom', this.onZoom as EventListener);
    this.addEventListener('gemu-run-to', ((e: CustomEvent) => this.runTo(e.detail)) as EventListener);
    this.addEventListener('gemu-pick', ((e: CustomEvent) => this.pick(e.detail.lane)) as EventListener);
    const whole = !this.src && document.getElementById('gemu-start') && document.querySelectorAll('gemu-player').length === 1;
    this.keys = whole ? window : this;
    this.keys.addEventListener('keydown', this.onKey as EventListener);
    narrowPage.addEventListener('change', this.onNarrow);
    this.onNarrow();
    addEventListener('message', this.onMessage);
    addEventListener('hashchange', this.onHash);
    void this.begin();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.keys?.removeEventListener('keydown', this.onKey as EventListener);
    narrowPage.removeEventListener('change', this.onNarrow);
    removeEventListener('message', this.onMessage);
    removeEventListener('hashchange', this.onHash);
    this.pause();
    this.abort?.abort();
    this.closeEditor();
  }

  private readonly onNarrow = (): void => void (this.narrow = narrowPage.matches);

  private async begin(): Promise<void> {
    let start: Start = {};
    try {
      const text = this.src ? '' : (document.getElementById('gemu-start')?.textContent?.trim() ?? '');
      if (text) start = JSON.parse(text) as Start;
    } catch (e) {
      this.message = `The start of the page cannot be read: ${(e as Error).message}`;
    }
    this.engine = engineOf(start.engine);
    if (start.policies?.length) this.policies = start.policies;
    this.known = start.knownPolicies ?? [];
    if (start.request) start.request.arguments ??= [];
    try {
      if (this.src) {
        const r = await fetch(this.src);
        if (!r.ok) throw new Error(`${this.src}: ${r.status} ${r.statusText}`);
        this.openBytes([{ name: this.src, bytes: new Uint8Array(await r.arrayBuffer()) }]);
      } else if (start.recordings?.length) {
        this.openBytes(start.recordings.map((r) => ({ name: r.name, bytes: Uint8Array.from(atob(r.base64), (c) => c.charCodeAt(0)) })));
      }
      const shared = fromHash(location.hash);
      if (shared && !this.engine) throw new Error('This page has no engine: it cannot run the program of the link. Open the link with gemu play.');
      let failure = '';
      const loading = this.engine ? this.engine.examples().catch((e: Error) => ((failure = `The examples cannot be loaded: ${e.message}`), [])) : Promise.resolve([]);
      const lesson = /^#example=([\w-]+)(?:&step=(\d+))?$/.exec(location.hash);
      if (shared) {
        this.openPlace(shared);
      } else if (start.request && !lesson) {
        this.setRequest({ ...start.request });
        await this.runAll();
      }
      this.examples = await loading;
      if (this.known.length === 0) this.known = this.engine?.policies ?? [];
      if (failure) this.message ||= failure;
      if (!shared && (lesson || (!start.request && !start.recordings?.length))) {
        const first = this.examples.find((x) => x.id === (lesson?.[1] ?? start.example)) ?? this.examples[0];
        if (first) await this.openExample(first);
        if (lesson?.[2] && first?.id === lesson[1]) this.go(Number(lesson[2]) - 1);
      }
    } catch (e) {
      this.message = (e as Error).message;
    }
    await this.updateComplete;
    this.setAttribute('ready', '');
    this.post({ gemu: 'ready' });
  }

  private readonly onHash = (): void => {
    try {
      const shared = fromHash(location.hash);
      if (shared && this.engine) this.openPlace(shared);
    } catch (e) {
      this.message = (e as Error).message;
    }
  };

  private openPlace(p: Place): void {
    clearTimeout(this.rememberTimer); // the address is that of the place
    this.policies = p.policies;
    this.setRequest(p.request);
    this.example = undefined;
    this.lane = p.lane ?? -1;
    this.register = p.register ?? '';
    this.hex = p.hex ?? false;
    if (p.pane) this.pane = p.pane;
    this.firstStep = p;
    this.runs = [];
    void this.runAll();
  }

  private async openExample(x: Example): Promise<void> {
    this.example = x;
    this.policies = x.policies;
    this.setRequest({ ...x.request });
    this.runs = [];
    this.firstStep = undefined;
    [this.main, this.step, this.warpIndex, this.lane, this.register, this.view] = [0, 0, 0, -1, '', undefined];
    this.zoomed = false;
    this.pane = x.id === 'memory' ? 'memory' : 'registers';
    this.remember();
    await this.runAll();
  }

  /** openBytes shows recordings: each launch is a run. */
  openBytes(files: { name: string; bytes: Uint8Array }[]): void {
    this.abort?.abort();
    this.pause();
    const runs: Run[] = [];
    for (const f of files) {
      let launches: Launch[];
      try {
        launches = launchesOf(new Recording(f.bytes));
      } catch (e) {
        runs.push({ label: f.name, busy: false, failure: `${f.name}: ${(e as Error).message}` });
        continue;
      }
      if (launches.length === 0) runs.push({ label: f.name, busy: false, failure: `${f.name}: the recording has no launch` });
      for (const launch of launches.slice(0, 32)) {
        const several = launches.length > 1 || files.length > 1;
        const label = launches.length > 1 ? `${launch.row}: ${launch.kernel}` : several && files.filter((x) => x !== f).length && runs.some((r) => r.label === launch.policy) ? f.name : launch.policy || f.name;
        runs.push({ label, launch, busy: false, failure: '' });
      }
    }
    this.example = undefined;
    this.setRequest(undefined);
    this.runs = runs;
    this.policies = [];
    [this.main, this.step, this.lane, this.register, this.view, this.message] = [Math.max(0, runs.findIndex((r) => r.launch)), 0, -1, '', undefined, runs.every((r) => !r.launch) ? runs.map((r) => r.failure).join('\n') : ''];
    if (this.message) this.runs = [];
    this.warpIndex = 0;
    this.zoomed = false;
    this.resetView();
    this.resetPrediction();
  }

  // Runs.

  /** setRequest sets the program and its launch, also in the editor. */
  private setRequest(r: Request | undefined): void {
    this.request = r;
    if (!r) return;
    if (this.policies.length === 0) this.policies = ['stack'];
    if (this.editor && this.editor.text !== r.source) this.editor.setText(r.source);
  }

  /** runAll runs the kernel under each policy, or under one policy and those that are still running. The place stays: the same event, not the same step. */
  private async runAll(only?: string): Promise<void> {
    if (!this.engine || !this.request) return;
    this.abort?.abort();
    this.pause();
    const abort = (this.abort = new AbortController());
    const before = this.model?.steps ? { at: this.model.occurrence(this.step), end: this.step >= this.model.steps, cta: this.model.info.cta, warp: this.model.info.warp } : undefined;
    const old = this.runs;
    this.message = '';
    this.faults = {};
    this.marks = [];
    this.editor?.setMarks([]);
    const again = policiesToRun(this.policies, old, only);
    this.runs = this.policies.map((p) => (again.includes(p) ? undefined : old.find((r) => r.label === p)) ?? { label: p, launch: old.find((r) => r.label === p)?.launch, busy: true, failure: '' });
    this.main = Math.min(this.main, this.runs.length - 1);
    let placed = !!only && !this.firstStep && !old[this.main]?.busy;
    for (const p of again) {
      let run: Run;
      try {
        const { response, recording } = await this.engine.run({ maxEvents: defaultMaxEvents, memory: true, ...this.request, policy: p }, abort.signal);
        run = { label: p, response, busy: false, failure: '' };
        if (recording.length) run.launch = launchesOf(new Recording(recording))[0];
        if (run.launch && response.status !== 'error') run.launch.outcome = response.status;
        if (!run.launch) run.failure = response.message || 'The run has no recording.';
        if (response.status === 'error') this.refuse(response);
      } catch (e) {
        if (abort.signal.aborted) return;
        run = { label: p, busy: false, failure: (e as Error).message };
      }
      if (abort.signal.aborted) return;
      this.runs = this.runs.map((r) => (r.label === p ? run : r));
      if (run.launch && !placed && (p === (this.firstStep?.policy ?? this.policies[this.main]) || p === again.at(-1))) {
        placed = true;
        this.putAt(run, before);
      }
      if (run.response?.place && run.response.status === 'error') {
        // The same error under each policy.
        this.runs = this.runs.map((r) => (r.busy ? { ...run, label: r.label } : r));
        break;
      }
    }
    const failed = this.runs.find((r) => r.failure);
    if (failed && !this.runs.some((r) => r.launch)) this.message = failed.failure;
    if (this.marks.length && this.message) this.message = ''; // the editor shows it
    for (const r of this.runs) r.busy = false;
    this.runs = [...this.runs];
    if (!this.zoomed) this.resetView();
  }

  private putAt(run: Run, before: { at: ReturnType<WarpModel['occurrence']>; end: boolean; cta: number; warp: number } | undefined): void {
    const launch = run.launch!;
    const first = this.firstStep;
    this.firstStep = undefined;
    if (first) {
      this.main = Math.max(0, this.runs.findIndex((r) => r.label === first.policy));
      this.warpIndex = Math.max(0, launch.findWarp(first.cta ?? 0, first.warp ?? 0));
      this.step = clamp(first.step ?? 0, 0, this.model?.steps ?? 0);
      this.view = first.view;
      this.zoomed = !!first.view;
      this.predict = first.predict ?? false;
    } else if (before) {
      this.warpIndex = Math.max(0, launch.findWarp(before.cta, before.warp));
      const m = this.model;
      if (m) {
        const at = before.end ? m.steps : m.find(before.at);
        this.step = at >= 0 ? at : clamp(this.step, 0, m.steps);
      }
      this.zoomed = false;
    } else this.step = 0;
    if (!this.zoomed) this.resetView();
    this.resetPrediction();
  }

  private refuse(r: Response): void {
    this.editing = true;
    if (r.place) this.marks = [{ line: r.place.line, column: r.place.column, message: r.message }];
    if (r.field) this.faults = { [r.field]: r.message };
    void this.updateComplete.then(() => {
      this.editor?.setMarks(this.marks);
      if (r.field) return this.focusFault();
      const fields = [...this.renderRoot.querySelectorAll<HTMLInputElement>('.argument input')];
      if (!r.place) (fields[r.argument ?? -1] ?? fields.find((f) => !f.value))?.focus();
    });
  }

  /** launchedKernel returns the kernel of the request, with its parameters, as the engine has read them. */
  private get launchedKernel(): NonNullable<Response['kernels']>[number] | undefined {
    const kernels = this.runs.find((x) => x.response?.kernels?.length)?.response?.kernels ?? [];
    return kernels.find((k) => k.name === this.request?.kernel) ?? kernels[0];
  }

  /** missing names the parameters without an argument, and gives an example for each. */
  private missing(): string {
    const list = (this.launchedKernel?.parameters ?? []).filter((_, i) => !this.request?.arguments[i]);
    if (list.length === 0 || !this.runs.some((r) => r.response?.status === 'error')) return '';
    return `Missing arguments, in the form below: ${list.map((p) => `${p.name}: ${/64$/.test(p.type) ? 'an array such as u32[32], or u32[32]=iota' : `a number of type ${p.type}, such as 32`}`).join('; ')}. Then press Run.`;
  }

  private stopRuns(): void {
    this.abort?.abort();
    this.runs = this.runs.map((r) => (r.busy ? { ...r, busy: false, failure: 'You have stopped this run.' } : r));
  }

  // Derived state.

  /** model returns the selected warp of the main run. */
  private get model(): WarpModel | undefined {
    return this.modelOf(this.runs[this.main]);
  }

  private modelOf(run: Run | undefined): WarpModel | undefined {
    const launch = run?.launch;
    if (!launch?.warps.length) return undefined;
    const main = this.runs[this.main]?.launch;
    if (launch === main || !main?.warps[this.warpIndex]) return launch.warp(Math.min(this.warpIndex, launch.warps.length - 1));
    const { cta, warp } = main.warps[this.warpIndex];
    const i = launch.findWarp(cta, warp);
    return i < 0 ? undefined : launch.warp(i);
  }

  private get asking(): boolean {
    return this.predict && this.step === this.revealed && !!this.model?.asksAt(this.step);
  }

  /** longest returns the number of steps of the longest run of the selected warp. */
  private get longest(): number {
    return Math.max(0, ...this.runs.map((r) => this.modelOf(r)?.steps ?? 0));
  }

  /** resetView shows all steps; of runs of very different length, about three times the shortest that ends. If runs fail, it shows the others. */
  private resetView(): void {
    const steps = this.runs.map((r) => this.modelOf(r)).filter((m) => m !== undefined);
    const longest = Math.max(0, ...steps.map((m) => m.steps));
    const whole = steps.filter((m) => m.launch.outcome === 'done').map((m) => m.steps);
    const shortest = whole.length ? Math.min(...whole) : longest;
    const to = (whole.length && steps.some((m) => m.launch.outcome !== 'done') ? Math.max(...whole) : Math.min(longest, Math.max(shortest * 3, 80))) + 1;
    this.view = { from: 0, to };
    this.keepInView();
  }

  private keepInView(): void {
    const v = this.view;
    if (!v || (this.step >= v.from && this.step < v.to)) return;
    const n = v.to - v.from;
    const longest = this.longest + 1;
    const from = clamp(Math.round(this.step - (this.step < v.from ? n * 0.75 : n * 0.25)), 0, Math.max(0, longest - n));
    this.view = { from, to: from + n };
  }

  // Moves.

  private get last(): number {
    return Math.min(this.revealed, this.longest);
  }

  /** go moves the playhead. */
  go(step: number): void {
    const next = clamp(step, 0, this.last);
    if (next !== this.step) this.verdict = undefined;
    if (this.predict && step > this.revealed) {
      void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('.question')?.focus());
    }
    this.step = next;
    this.keepInView();
    this.remember();
    this.post(this.report());
  }

  private rememberTimer = 0;
  /** remember writes the lesson and the step to the address, soon, so that a reload keeps them. */
  private remember(): void {
    clearTimeout(this.rememberTimer);
    if (!this.example || this.changed || parent !== window) return;
    const hash = `#example=${this.example.id}&step=${this.step + 1}`;
    this.rememberTimer = window.setTimeout(() => history.replaceState(null, '', hash), 200);
  }

  /** changed reports whether the program or the launch of the lesson is edited. */
  private get changed(): boolean {
    const key = (r: Request) => JSON.stringify([r.source, r.kernel || '', r.grid, r.block, r.arguments, r.warp || 32, r.shared || 0, r.cluster ?? [0, 0, 0], !!r.cooperative, r.seed || 0]);
    return !!this.example && !!this.request && key(this.example.request) !== key(this.request);
  }

  private readonly onStep = (e: CustomEvent): void => {
    e.preventDefault();
    this.pause();
    this.go(e.detail.step);
  };

  private readonly onZoom = (e: CustomEvent): void => {
    e.preventDefault();
    const view = e.detail.view as View | undefined;
    this.view = view ?? { from: 0, to: this.longest + 1 };
    this.zoomed = !!view;
  };

  private hoverTimer = 0;
  private readonly onHover = (e: CustomEvent): void => {
    clearTimeout(this.hoverTimer);
    const text = e.detail.text as string;
    if (text) this.hover = text;
    else this.hoverTimer = window.setTimeout(() => (this.hover = ''), 300);
  };

  /** turn moves to the next or previous split, reconvergence or change of lanes. */
  private turn(direction: 1 | -1): void {
    const m = this.model;
    if (!m) return;
    const list = m.turningPoints();
    const at = direction > 0 ? list.find((s) => s > this.step) : list.findLast((s) => s < this.step);
    this.go(at ?? (direction > 0 ? m.steps : 0));
  }

  private runTo(d: { line: number; source: boolean; file: string }): void {
    const m = this.model;
    if (!m) return;
    const s = m.nextAtLine(this.step, (i) => (d.source ? i.sourceLine === d.line && i.sourceFile === d.file : i.line === d.line));
    if (s >= 0) return this.go(s);
    this.hover = `The warp never executes line ${d.line}.`;
  }

  private togglePlay(): void {
    if (this.playing || !this.last) return this.pause();
    if (this.step >= this.last) this.go(0);
    this.playing = true;
    this.timer = window.setInterval(() => {
      if (this.step >= this.last) this.pause();
      else this.go(this.step + 1);
    }, playInterval);
  }

  private pause(): void {
    clearInterval(this.timer);
    this.playing = false;
  }

  private readonly onKey = (e: KeyboardEvent): void => {
    if (e.key === 'Escape' && this.help) this.help = false;
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const path = e.composedPath();
    const box = path[0] instanceof HTMLInputElement && path[0].type === 'checkbox';
    const inField = !box && path.some((x) => x instanceof HTMLElement && (/^(INPUT|SELECT|TEXTAREA)$/.test(x.tagName) || x.isContentEditable || x.tagName === 'DIALOG'));
    if (inField && !(path[0] instanceof HTMLInputElement && path[0].type === 'range' && e.shiftKey)) return;
    const scrolls = path.some((x) => x instanceof HTMLElement && x.getAttribute('role') === 'region');
    const onButton = box || path.some((x) => x instanceof HTMLElement && /^(BUTTON|SUMMARY|A)$/.test(x.tagName));
    const by: Record<string, () => void> = {
      ArrowRight: () => (e.shiftKey ? this.turn(1) : this.go(this.step + 1)),
      ArrowLeft: () => (e.shiftKey ? this.turn(-1) : this.go(this.step - 1)),
      Home: () => this.go(0),
      End: () => this.go(this.last),
      ' ': () => this.togglePlay(),
    };
    if (!by[e.key] || (scrolls && !e.shiftKey) || (e.key === ' ' && onButton) || this.runs.length === 0) return;
    if (e.key !== ' ') this.pause();
    by[e.key]();
    e.preventDefault();
  };

  // Prediction.

  private nextQuestion(from: number): number {
    const m = this.model;
    if (!m) return Infinity;
    for (let s = from; s < m.steps; s++) if (m.asksAt(s)) return s;
    return Infinity;
  }

  private resetPrediction(): void {
    this.verdict = undefined;
    this.picked = noLanes;
    this.revealed = this.predict ? this.nextQuestion(this.step) : Infinity;
  }

  private setPredict(on: boolean): void {
    this.predict = on;
    this.pause();
    this.resetPrediction();
  }

  private pick(lane: number): void {
    this.verdict = undefined;
    this.picked = has(this.picked, lane) ? without(this.picked, fromMembers([lane])) : or(this.picked, fromMembers([lane]));
  }

  private check(): void {
    const m = this.model!;
    const want = m.active(this.step + 1);
    const wrong = or(without(want, this.picked), without(this.picked, want));
    if (equal(want, this.picked)) {
      const s = sentence(m, this.step);
      this.reveal({ right: true, text: `Right: ${nounVerb(want, m.lanes, 'run', 'runs')} next, at line ${m.line(this.step + 1)}. ${s.rest.replace(/^[^.]*\.\s*/, '')}` });
      return;
    }
    const guard = /^@!?(%\w+)/.exec(m.instructionAt(this.step)!.text)?.[1];
    const hint = guard ? ` Look at ${guard} of each lane, and which side the policy runs first.` : ' Look at the groups of lanes, and for what each waits.';
    if (guard) this.register = guard;
    this.verdict = { right: false, text: `Not yet: ${size(wrong) === 1 ? 'one lane is' : `${size(wrong)} lanes are`} different.${hint}` };
  }

  private reveal(verdict: { right: boolean; text: string }): void {
    this.verdict = verdict;
    this.picked = noLanes;
    this.revealed = this.nextQuestion(this.step + 1);
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('.verdict')?.focus());
  }

  private giveUp(): void {
    const m = this.model!;
    const want = m.active(this.step + 1);
    this.reveal({ right: false, text: `${capital(nounVerb(want, m.lanes, 'run', 'runs'))} next, at line ${m.line(this.step + 1)}.` });
  }

  // Files and links.

  private async openFiles(list: Iterable<File>): Promise<void> {
    const files = [...list].slice(0, 8);
    if (files.length === 0) return;
    const bytes = await Promise.all(files.map(async (f) => ({ name: f.name, bytes: new Uint8Array(await f.arrayBuffer()) })));
    const source = bytes.find((f) => /\.(ptx|cu)$/i.test(f.name));
    if (source && this.engine) {
      this.example = undefined;
      this.setRequest({ name: source.name, source: new TextDecoder().decode(source.bytes), kernel: '', grid: [1, 1, 1], block: [32, 1, 1], arguments: [] });
      this.runs = [];
      this.editing = true;
      await this.runAll();
    } else this.openBytes(bytes);
  }

  private share(): void {
    const m = this.model;
    if (!this.request) return;
    let hash: string;
    try {
      hash = toHash({
        request: this.request,
        policies: this.policies,
        policy: this.runs[this.main]?.label,
        step: this.step,
        cta: m?.info.cta,
        warp: m?.info.warp,
        lane: this.lane >= 0 ? this.lane : undefined,
        register: this.register || undefined,
        hex: this.hex || undefined,
        pane: this.pane,
        view: this.view,
        predict: this.predict || undefined,
      });
    } catch (e) {
      this.message = (e as Error).message;
      return;
    }
    history.replaceState(null, '', hash);
    this.link = location.href;
    void navigator.clipboard?.writeText(this.link).catch(() => undefined);
    void this.updateComplete.then(() => {
      const d = this.renderRoot.querySelector<HTMLDialogElement>('dialog.link');
      d?.showModal();
      d?.querySelector('input')?.select();
    });
  }

  // Messages of a page that embeds this one.

  private post(message: object): void {
    if (parent !== window) parent.postMessage(message, '*');
  }

  private report(): object {
    const m = this.model;
    return { gemu: 'state', step: this.step, steps: m?.steps ?? 0, line: m?.line(this.step) ?? 0, policy: this.runs[this.main]?.label ?? '', sentence: m ? text(sentence(m, this.step, this.asking)) : '', height: document.documentElement.scrollHeight };
  }

  private readonly onMessage = (e: MessageEvent): void => {
    const d = e.data as { gemu?: string; step?: number; request?: Request; policies?: string[]; recordings?: { name: string; bytes: ArrayBuffer }[] } | null;
    if (e.source !== parent || parent === window || typeof d !== 'object' || !d || typeof d.gemu !== 'string') return;
    const by: Record<string, () => void> = {
      step: () => this.go(Math.round(Number(d.step)) || 0),
      next: () => this.go(this.step + 1),
      back: () => this.go(this.step - 1),
      'next-split': () => this.turn(1),
      'previous-split': () => this.turn(-1),
      state: () => this.post(this.report()),
      open: () => this.openBytes((d.recordings ?? []).map((r) => ({ name: String(r.name), bytes: new Uint8Array(r.bytes) }))),
      run: () => {
        try {
          const p = checkPlace({ request: d.request ?? this.request, policies: d.policies });
          if (p.policies.length) this.policies = p.policies;
          if (d.request) {
            if (this.example) [this.example, this.main, this.runs] = [undefined, 0, []]; // not a lesson: a program of the surrounding page
            this.setRequest(p.request);
          }
        } catch {
          this.message = 'The message "run" of the surrounding page holds no program.';
          return;
        }
        void this.runAll().then(() => this.post(this.report()));
      },
    };
    by[d.gemu]?.();
  };

  // The editor.

  private closeEditor(): void {
    this.editor?.destroy();
    this.editor = undefined;
  }

  private async openEditor(host: HTMLElement): Promise<void> {
    if (this.editor || host.dataset.loading) return;
    host.dataset.loading = '1';
    try {
      const url = (globalThis as { gemuEditor?: () => string }).gemuEditor?.() ?? new URL('./editor.js', import.meta.url).href;
      const { createEditor } = (await import(url)) as typeof import('../editor.ts');
      if (!host.isConnected) return;
      host.textContent = '';
      this.editor = createEditor({ parent: host, root: this.renderRoot as ShadowRoot, text: this.request?.source ?? '', label: 'Program', run: () => this.runEdited() });
      if (this.marks.length) this.editor.setMarks(this.marks);
    } catch (e) {
      host.textContent = `The editor cannot be loaded: ${(e as Error).message}`;
    }
    delete host.dataset.loading;
  }

  private runEdited(): void {
    const form = this.renderRoot.querySelector<HTMLFormElement>('form.launch');
    if (!form || !this.request) return;
    const data = new FormData(form);
    const text = (name: string) => String(data.get(name) ?? '');
    const { launch, faults } = launchOf({ grid: text('grid'), block: text('block'), cluster: text('cluster'), shared: text('shared'), seed: text('seed'), cooperative: data.has('cooperative') });
    this.faults = faults;
    if (Object.keys(faults).length) {
      void this.focusFault();
      return;
    }
    this.setRequest({
      ...this.request,
      source: this.editor?.text ?? this.request.source,
      kernel: text('kernel'),
      ...launch,
      warp: Number(data.get('warp')) || 32,
      arguments: data.getAll('argument').map((a) => String(a).trim()).filter((a, i, list) => a || i < list.length - 1),
    });
    void this.runAll();
  }

  /** focusFault moves the focus to the first wrong field of the form. */
  private async focusFault(): Promise<void> {
    await this.updateComplete;
    const field = this.renderRoot.querySelector<HTMLElement>('form.launch [aria-invalid=true]');
    field?.closest('details')?.setAttribute('open', '');
    field?.focus();
  }

  override updated(changed: Map<string, unknown>): void {
    const host = this.renderRoot.querySelector<HTMLElement>('.editor-host');
    if (host) void this.openEditor(host);
    else this.closeEditor();
    if (changed.has('main') || changed.has('warpIndex')) this.keepInView();
    const m = this.model;
    document.title = m ? `${m.launch.kernel} – gemu` : 'gemu: see warps run';
  }

  // Rendering.

  private header(): unknown {
    const launch = this.model?.launch;
    return html`<header>
      <span class="brand" aria-hidden="true">ge<b>mu</b></span>
      ${this.examples.length
        ? html`<label class="field"><span class="hidden">Example</span><select aria-label="Example" @change=${(e: Event) => this.chooseExample((e.target as HTMLSelectElement).value)}>
            ${this.example ? nothing : html`<option selected value="">Your program</option>`}
            ${this.examples.map((x, i) => html`<option value=${x.id} ?selected=${x.id === this.example?.id}>${i + 1}. ${x.title}</option>`)}
          </select></label>`
        : nothing}
      <h1>${this.example?.title ?? launch?.kernel ?? 'See warps run'}</h1>
      ${launch ? html`<span class="shape">${this.example ? html`kernel <span class="mono">${launch.kernel}</span>, ` : ''}${shape(launch)}${this.argumentsText()}</span>` : nothing}
      <nav aria-label="Page">
        ${this.engine ? html`<button aria-pressed=${this.editing} @click=${() => (this.editing = !this.editing)} ?disabled=${!this.request}>Edit</button>` : nothing}
        <button @click=${() => this.renderRoot.querySelector<HTMLInputElement>('#file')!.click()}>Open…</button>
        <input id="file" type="file" hidden multiple aria-label="Recordings" @change=${(e: Event) => this.openFiles((e.target as HTMLInputElement).files ?? [])} />
        ${this.engine ? html`<button @click=${this.share} ?disabled=${!this.request}>Share</button>` : nothing}
        <button aria-expanded=${this.help} @click=${() => (this.help = !this.help)}>Help</button>
      </nav>
    </header>`;
  }

  /** argumentsText names the arguments of the launch: "; stride 8, width 32". */
  private argumentsText(): string {
    const list = this.request?.arguments.map((a, i) => [this.launchedKernel?.parameters[i]?.name, a].filter(Boolean).join(' ')) ?? [];
    const text = list.length ? `; ${list.join(', ')}` : '';
    return text.length > 160 ? `${text.slice(0, 160)}…` : text;
  }

  private chooseExample(id: string): void {
    const x = this.examples.find((e) => e.id === id);
    if (x) void this.openExample(x);
  }

  private intro(): unknown {
    const x = this.example;
    if (!x) return nothing;
    const m = x.moment;
    return html`<section class="intro" aria-label="Example">
      <p class="ask"><b>${inline(x.question.replace(/\s+/g, ' ').trim())}</b></p>
      ${m ? html`<button @click=${() => this.toMoment(m)}>Show the moment</button>` : nothing}
      ${this.changed ? html`<span class="soft">changed <button class="small" @click=${() => this.openExample(x)}>Restore</button></span>` : nothing}
      ${x.text ? html`<details><summary>Read</summary><div class="prose">${blocks(x.text.split(/^## Question$/m)[0])}${x.cuda && !x.text.includes('```cuda') ? html`<pre tabindex="0" aria-label="CUDA C">${x.cuda}</pre>` : nothing}</div></details>` : nothing}
      ${x.answer ? html`<details><summary>Answer</summary><div class="prose">${blocks(x.answer)}</div></details>` : nothing}
    </section>`;
  }

  private toMoment(m: NonNullable<Example['moment']>): void {
    const i = this.runs.findIndex((r) => r.label === m.policy && r.launch);
    if (i >= 0) this.main = i;
    this.warpIndex = Math.max(0, this.runs[this.main]?.launch?.findWarp(0, m.warp ?? 0) ?? 0);
    if (this.predict) this.setPredict(false);
    this.go(m.step - 1); // the moment counts from 1
  }

  private transport(): unknown {
    const m = this.model;
    if (!m) return nothing;
    const total = m.steps;
    const label = total === 0 ? 'no step was recorded' : this.step >= total ? `the end, after ${plural(total, 'step')}` : `step ${(this.step + 1).toLocaleString('en')} of ${this.predict && this.revealed < total ? '?' : total.toLocaleString('en')}`;
    return html`<div class="transport" role="toolbar" aria-label="Steps">
      <div class="buttons">
        <button class="icon" aria-label="To the start" title="To the start (Home)" @click=${() => this.moved(() => this.go(0))} ?disabled=${this.step === 0}>${icon('start')}</button>
        <button class="icon" aria-label="Previous split" title="Previous split or reconvergence (Shift ←)" @click=${() => this.moved(() => this.turn(-1))} ?disabled=${this.step === 0}>${icon('previous')}</button>
        <button class="icon" aria-label="Step back" title="Step back (←)" @click=${() => this.moved(() => this.go(this.step - 1))} ?disabled=${this.step === 0}>${icon('back')}</button>
        <button class="icon play" aria-label=${this.playing ? 'Pause' : 'Play'} title="Play (space)" @click=${this.togglePlay} ?disabled=${total === 0}>${icon(this.playing ? 'pause' : 'play')}</button>
        <button class="icon primary" aria-label="Step" title="Step (→)" @click=${() => this.moved(() => this.go(this.step + 1))} ?disabled=${this.step >= this.last && !this.asking}>${icon('forward')}</button>
        <button class="icon" aria-label="Next split" title="Next split or reconvergence (Shift →)" @click=${() => this.moved(() => this.turn(1))} ?disabled=${this.step >= this.last}>${icon('next')}</button>
        <button class="icon" aria-label="To the end" title="To the end (End)" @click=${() => this.moved(() => this.go(this.last))} ?disabled=${this.step >= this.last}>${icon('end')}</button>
      </div>
      <input type="range" min="0" max=${Number.isFinite(this.revealed) ? Math.min(this.revealed, total) : Math.max(total, this.last)} .value=${String(this.step)} aria-label="Step" aria-valuetext=${label} @input=${(e: Event) => this.moved(() => this.go(Number((e.target as HTMLInputElement).value)))} />
      <output class="position">${label}</output>
      <label class="check"><input type="checkbox" .checked=${this.predict} @change=${(e: Event) => this.setPredict((e.target as HTMLInputElement).checked)} /> Predict first</label>
    </div>`;
  }

  private moved(f: () => void): void {
    this.pause();
    f();
  }

  private say(): unknown {
    const m = this.model;
    if (!m) return nothing;
    const s = sentence(m, Math.min(this.step, m.steps), this.asking);
    return html`<div class="say">
      <p class="sentence" role="status" aria-live="polite" aria-atomic="true"><b>${s.head}</b>${s.code ? html` <code>${s.code}</code> ` : '. '}<span>${s.rest}</span></p>
      <p class="hover" aria-hidden="true">${this.hover || html`<span class="faint">Point at a strip, a line or a lane: what it does is explained here.</span>`}</p>
    </div>`;
  }

  private strip(run: Run, i: number): unknown {
    const m = this.modelOf(run);
    const chosen = i === this.main;
    const main = this.model;
    if (!m) {
      return html`<section class="strip" aria-label="Policy ${run.label}"><div class="strip-title"><b class="mono">${run.label}</b> ${run.busy ? html`<span class="soft">running…</span>` : html`<span class="bad">${run.launch ? 'The recording has no events of this warp.' : run.failure.split('\n')[0]}</span>`} ${this.stripTools(run)}</div></section>`;
    }
    const n = this.runs.filter((r) => r.launch).length;
    const W = m.launch.warpSize;
    const laneHeight = W <= 8 ? 13 : Math.max(3, Math.round(((n === 1 ? 6 : n === 2 ? 4.5 : 3.5) * 32) / Math.max(W, 16)) );
    return html`<section class="strip ${chosen && n > 1 ? 'chosen' : ''}" aria-label="Policy ${run.label}">
      <gemu-strip .model=${m} .step=${Math.min(this.step, m.steps)} .label=${run.label} .laneHeight=${laneHeight} .view=${this.view} .revealed=${this.predict ? this.revealed : Infinity} .other=${chosen ? undefined : main} .otherLabel=${this.runs[this.main]?.label ?? ''} .lane=${this.lane} .lines=${this.lines}>
        ${n > 1
          ? html`<button slot="title" class="pick" aria-pressed=${chosen} title="Show the state of this run: ${docOf(this.known, run.label)}" @click=${() => this.choose(i)}>${run.label}</button>`
          : html`<span slot="title" title=${docOf(this.known, run.label)}>${run.label}</span>`}
        <span slot="tools">${run.busy ? html`<span class="busy" role="status">running…</span>` : nothing}${this.stripTools(run)}</span>
      </gemu-strip>
    </section>`;
  }

  private choose(i: number): void {
    const w = this.model?.info;
    this.main = i;
    const launch = this.runs[i]?.launch;
    if (w && launch) this.warpIndex = Math.max(0, launch.findWarp(w.cta, w.warp));
    this.resetPrediction();
  }

  private stripTools(run: Run): unknown {
    if (!this.engine || !this.request) return nothing;
    return html`${run.busy ? html`<button class="small" @click=${this.stopRuns}>Stop</button>` : nothing}${this.policies.length > 1 ? html`<button class="small" aria-label="Remove ${run.label}" title="Remove" @click=${() => this.removePolicy(run.label)}>✕</button>` : nothing}`;
  }

  private removePolicy(p: string): void {
    this.policies = this.policies.filter((x) => x !== p);
    this.runs = this.runs.filter((r) => r.label !== p);
    this.main = clamp(this.main, 0, this.runs.length - 1);
    this.resetView();
    this.resetPrediction();
  }

  private addPolicy(e: Event): void {
    const field = e.target as HTMLSelectElement | HTMLInputElement;
    const p = field.value.trim();
    field.value = '';
    if (!p || this.policies.includes(p) || this.policies.length >= 8) return;
    this.policies = [...this.policies, p];
    void this.runAll(p);
  }

  private timeline(): unknown {
    const strips = this.runs.map((r, i) => this.strip(r, i));
    return html`<section class="time" aria-label="Time">
      <div class="bar"><h2>Every step of every lane</h2>
        ${this.engine && this.request
          ? html`<label class="field">add a policy <select @change=${this.addPolicy}><option value="">…</option>${this.known.filter((p) => !this.policies.includes(p.name)).map((p) => html`<option value=${p.name} title=${p.doc}>${p.name}</option>`)}</select></label>
              <label class="field"><span title="its:N is independent thread scheduling: another group of lanes of the warp runs after N instructions">time slice</span> <input class="slice" type="number" min="1" max="4096" placeholder="its:N" @change=${(e: Event) => this.addSlice(e)} /></label>`
          : nothing}
        <span class="soft hint">drag to zoom</span>
      </div>
      ${strips}
      <ul class="key" aria-label="Signs of the strips"><li><i class="filled"></i>runs</li><li><i class="idle"></i>waits</li><li><i class="dots"></i>has ended</li>${this.model && size(this.model.lanes) < this.model.launch.warpSize ? html`<li><i></i>blank: no thread</li>` : nothing}${this.runs.some((r) => r.launch && ['deadlock', 'trap'].includes(r.launch.outcome)) && !this.predict ? html`<li><i class="hatched"></i>the run fails here</li>` : nothing}</ul>
    </section>`;
  }

  private addSlice(e: Event): void {
    const field = e.target as HTMLInputElement;
    const n = Math.floor(Number(field.value));
    field.value = '';
    if (n < 1) return;
    const p = `its:${n}`;
    if (this.policies.includes(p) || this.policies.length >= 8) return;
    this.policies = [...this.policies, p];
    void this.runAll(p);
  }

  /** card is the message of a failed run, at its end, or of a program that did not run. */
  private card(): unknown {
    if (this.message) return html`<section class="card bad-card" role="alert"><h2>${this.runs.length && !this.model ? 'The program does not run' : 'gemu says'}</h2><pre>${this.message}</pre>${this.missing() ? html`<p>${this.missing()}</p>` : nothing}</section>`;
    const run = this.runs[this.main];
    const m = this.model;
    const trap = run?.launch?.trap;
    const elsewhere = trap && m && (trap.cta !== m.info.cta || trap.warp !== m.info.warp) ? run!.launch!.findWarp(trap.cta, trap.warp) + 1 : 0;
    if (!run?.launch || run.launch.outcome === 'done' || !m || (!elsewhere && this.step < m.steps - 1) || this.predict && this.revealed < m.steps) return nothing;
    if (run.launch.outcome === 'stopped') return html`<section class="card" aria-label="How the run ends"><h2>Stopped</h2><p>${capital(limitText(run.launch))}. Later steps are not shown.</p></section>`;
    const message = run.response?.message || run.launch.error;
    const aligned = /wait at a barrier without/.test(message) && /^(@\S+ )?(bar\.|barrier\b.*\.aligned)/.test(m.instructionAt(m.steps - 1)?.text ?? '');
    return html`<section class="card bad-card" aria-label="How the run ends"><h2>${isDeadlock(run.launch) ? 'Deadlock' : 'The kernel has failed'}</h2>${isDeadlock(run.launch) ? html`<p>Lanes wait for something that no lane will ever do. ${aligned ? 'A warp arrives at an aligned barrier, such as bar.sync, only when all its lanes execute the same instruction. ' : nothing}gemu says:</p>` : nothing}<pre tabindex="0" aria-label="Message">${message}</pre>${elsewhere ? html`<button @click=${() => (this.chooseWarp(elsewhere - 1), this.go(this.model!.steps))}>Go to CTA ${run.launch.ctaName(trap!.cta)} warp ${trap!.warp}</button>` : nothing}</section>`;
  }

  private question(): unknown {
    const m = this.model!;
    if (!this.asking) return this.verdict ? html`<p class="verdict ${this.verdict.right ? 'good' : 'no'}" role="status" tabindex="-1">${this.verdict.right ? '✓ ' : ''}${this.verdict.text}</p>` : nothing;
    const all = without(m.lanes, m.ended(this.step + 1));
    return html`<div class="question" tabindex="-1" role="group" aria-label="Prediction">
      <p><b>Which lanes run next?</b> Press them in the cells below, then check. The future is not drawn yet.</p>
      <div class="buttons">
        <button @click=${() => this.pickAll(all)}>All</button><button @click=${() => this.pickAll(noLanes)}>None</button><button @click=${() => this.pickAll(without(all, this.picked))}>Invert</button>
        <button class="primary" @click=${this.check} ?disabled=${isEmpty(this.picked)}>Check</button><button @click=${this.giveUp}>Show me</button>
        <span class="soft">${isEmpty(this.picked) ? 'none chosen' : inWords(this.picked, m.lanes)}</span>
      </div>
      ${this.verdict ? html`<p class="verdict no" role="status" tabindex="-1">${this.verdict.text}</p>` : nothing}
    </div>`;
  }

  private pickAll(lanes: Lanes): void {
    this.verdict = undefined;
    this.picked = lanes;
  }

  private warps(): unknown {
    const launch = this.runs[this.main]?.launch;
    if (!launch || launch.warps.length < 2) return nothing;
    const event = this.model!.eventOf(this.step);
    const shown = launch.warps.length <= 64 ? launch.warps : launch.warps.slice(0, 64);
    return html`<details class="warps" open>
      <summary>${plural(launch.warps.length, 'warp')} at this moment</summary>
      <div class="warp-list" role="group" aria-label="Warps">
        ${shown.map((w, i) => {
          const m = launch.warp(i);
          const s = i === this.warpIndex ? this.step : m.stepAtEvent(event);
          const block = m.instructionAt(Math.min(s, m.steps - 1))?.block ?? -1;
          const n = size(m.active(s));
          const done = s >= m.steps;
          return html`<button aria-pressed=${i === this.warpIndex} style=${hue(block)} @click=${() => this.chooseWarp(i)} title="${done ? 'ended' : `${n} of ${size(m.lanes)} lanes at line ${m.line(s)}`}">
            <span class="mono">${launch.grid.some((g) => g > 1) ? launch.ctaName(w.cta) + ' ' : ''}w${w.warp}</span>
            ${size(m.lanes) < launch.warpSize ? html`<span class="soft">${plural(size(m.lanes), 'lane')},</span>` : nothing}${this.predict ? nothing : html`<span class="soft">${done ? plural(m.steps, 'step') : `step ${s + 1} of ${m.steps}`}</span>`}${launch.trap?.cta === w.cta && launch.trap.warp === w.warp ? html`<span class="bad">✕<span class="hidden"> failed</span></span>` : nothing}
            ${done ? html`<span class="soft">end</span>` : html`<span class="letter">${launch.blocks[block]?.letter ?? ''}</span><span class="meter" aria-hidden="true"><i style="width:${(n / launch.warpSize) * 100}%"></i></span>`}
          </button>`;
        })}
        ${launch.warps.length > shown.length
          ? html`<label class="field">another <select @change=${(e: Event) => this.chooseWarp(Number((e.target as HTMLSelectElement).value))}>${launch.warps.slice(0, 4096).map((w, i) => html`<option value=${i} ?selected=${i === this.warpIndex}>CTA ${launch.ctaName(w.cta)} warp ${w.warp}</option>`)}</select></label>`
          : nothing}
      </div>
    </details>`;
  }

  private chooseWarp(i: number): void {
    const event = this.model!.eventOf(this.step);
    this.warpIndex = i;
    this.step = this.model!.stepAtEvent(event);
    this.keepInView();
    this.resetPrediction();
  }

  private results(): unknown {
    const outputs = this.runs[this.main]?.response?.outputs ?? [];
    if (outputs.length === 0) return html`<p class="soft">${this.request ? 'The run has no results.' : 'A recording has no results of buffers; see the registers at the stores.'}</p>`;
    return outputs.map(
      (o) => html`<h3 class="mono">${o.name ?? `argument ${o.argument}`} <span class="soft">${o.type}[${o.length}], at the end</span></h3>
        <div class="scroll" tabindex="0" role="region" aria-label="Values of ${o.name ?? `argument ${o.argument}`}"><ol class="values">${o.values.map((v, i) => html`<li><span class="soft">${i}</span>${v}</li>`)}</ol></div>`,
    );
  }

  private panes(): unknown {
    const m = this.model!;
    const step = Math.min(this.step, m.steps);
    const shown = panes.filter(([p]) => p !== 'results' || (this.runs[this.main]?.response?.outputs?.length ?? 0) > 0);
    const now = shown.some(([p]) => p === this.pane) ? this.pane : 'registers';
    const hide = this.asking;
    return html`<section class="panes" aria-label="State">
      <div class="tabs" role="tablist" aria-label="Views" @keydown=${(e: KeyboardEvent) => this.tabKey(e, shown.map(([p]) => p), now)}>
        ${shown.map(([p, name]) => html`<button role="tab" id="tab-${p}" aria-selected=${now === p} aria-controls="pane" tabindex=${now === p ? 0 : -1} @click=${() => (this.pane = p)}>${name}</button>`)}
      </div>
      <div id="pane" role="tabpanel" aria-labelledby="tab-${now}">
        ${now === 'registers' ? html`<gemu-registers .model=${m} .step=${step} .hex=${this.hex} .register=${this.register} .lane=${this.lane}></gemu-registers>` : nothing}
        ${now === 'memory' ? html`<gemu-memory .model=${m} .step=${step} .until=${this.predict ? Math.min(this.revealed, m.steps) + 1 : Infinity}></gemu-memory>` : nothing}
        ${now === 'flow' ? html`<gemu-flow .model=${m} .step=${step} .hideNext=${hide}></gemu-flow>` : nothing}
        ${now === 'results' ? this.results() : nothing}
      </div>
    </section>`;
  }

  private tabKey(e: KeyboardEvent, list: string[], now: string): void {
    const d = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
    if (!d || e.shiftKey) return;
    e.preventDefault();
    e.stopPropagation();
    this.pane = list[(list.indexOf(now) + d + list.length) % list.length];
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`#tab-${this.pane}`)?.focus());
  }

  /** field returns a field of the form, with its message if it is wrong. */
  private field(name: string, label: string, value: string, placeholder = ''): unknown {
    const fault = this.faults[name];
    return html`<span class="one"><label>${label} <input name=${name} size="7" .value=${value} placeholder=${placeholder} spellcheck="false" autocomplete="off" aria-invalid=${fault ? 'true' : 'false'} aria-describedby=${fault ? `fault-${name}` : nothing} /></label>${this.fault(name)}</span>`;
  }

  private fault(name: string): unknown {
    return this.faults[name] ? html`<span class="fault bad" id="fault-${name}" role="alert">${this.faults[name]}</span>` : nothing;
  }

  private form(): unknown {
    const r = this.request!;
    const kernels = this.runs.find((x) => x.response?.kernels?.length)?.response?.kernels ?? [];
    const kernel = this.launchedKernel;
    const n = Math.max(kernel?.parameters.length ?? 0, r.arguments.length, 1);
    const bad = this.runs.find((x) => x.response?.argument !== undefined)?.response;
    return html`<section class="edit" aria-label="Program and launch">
      <div class="bar"><h2>${r.name}</h2><span class="soft">Ctrl+Enter runs; the place stays</span></div>
      <div class="editor-host" style="height:min(52vh,520px)"><p class="soft">The editor is loading…</p></div>
      <form class="launch" novalidate @submit=${(e: Event) => (e.preventDefault(), this.runEdited())}>
        ${kernels.length > 1 ? html`<label>kernel <select name="kernel">${kernels.map((k) => html`<option ?selected=${k.name === (r.kernel || kernel?.name)}>${k.name}</option>`)}</select></label>` : html`<input type="hidden" name="kernel" .value=${r.kernel ?? ''} />`}
        ${this.field('grid', 'grid', r.grid.map((n) => n || 1).join(','))}
        ${this.field('block', 'block', r.block.some((n) => n) ? r.block.join(',') : kernel?.block ? '' : '32', kernel?.block?.join(',') ?? '')}
        <label>lanes of a warp <select name="warp" aria-invalid=${this.faults.warp ? 'true' : 'false'}>${warpSizes.map((w) => html`<option ?selected=${w === (r.warp || 32)}>${w}</option>`)}</select></label>
        ${Array.from({ length: n }, (_, i) => {
          const p = kernel?.parameters[i];
          const wrong = bad?.argument === i;
          return html`<label class="argument">${p ? html`<span class="mono">${p.name}</span> <span class="soft">${p.type}</span>` : `argument ${i}`} <input name="argument" list="arguments" .value=${r.arguments[i] ?? ''} aria-invalid=${wrong ? 'true' : 'false'} spellcheck="false" autocomplete="off" /></label>`;
        })}
        <datalist id="arguments">${['u32[32]', 'u32[32]=iota', 'f32[64]=1', 'f32[1024]=iota', 's32[32]=-1', '32', '2.0'].map((a) => html`<option value=${a}></option>`)}</datalist>
        <details class="more" ?open=${!!(r.cluster || r.shared || r.seed || r.cooperative)}>
          <summary>Shared memory, clusters, schedule</summary>
          <div class="launch">
            ${this.field('shared', 'shared memory of a block, in bytes', r.shared ? String(r.shared) : '', '0')}
            ${this.field('cluster', 'blocks of a cluster', r.cluster?.join(',') ?? '', 'none')}
            ${this.field('seed', 'seed of the schedule', r.seed ? String(r.seed) : '', '0')}
            <label class="check"><input type="checkbox" name="cooperative" .checked=${!!r.cooperative} aria-invalid=${this.faults.cooperative ? 'true' : 'false'} aria-describedby=${this.faults.cooperative ? 'fault-cooperative' : nothing} /> cooperative: all blocks run at the same time</label>${this.fault('cooperative')}
          </div>
        </details>
        <button class="primary" type="submit">Run</button>
        ${this.runs.some((x) => x.busy) ? html`<button type="button" @click=${this.stopRuns}>Stop</button>` : nothing}
      </form>
    </section>`;
  }

  private helpText(): unknown {
    if (!this.help) return nothing;
    return html`<section class="card help" aria-label="Help"><div>
      <h2>What the pictures show</h2>
      <p>A <b>warp</b> is 32 threads, its <b>lanes</b>, that execute an instruction together. In a strip each row is a lane and each column a step. A <b>filled</b> cell executes; a <b>pale</b> cell waits; a <b>dotted</b> line is a lane that has ended. Colour and letter name the basic block of the program: a block is lines that are executed from the first to the last.</p>
      <p>Each strip is the same kernel under another <b>policy</b>: the rule that decides which lanes run next. The playhead is at the same step in all of them. Press the name of a policy to see its state. <b>Steps wasted</b> are those that the same work would save if all lanes ran in every step.</p>
      ${this.known.length ? html`<dl>${this.known.map((p) => html`<dt>${p.name}</dt><dd>${p.doc}</dd>`)}<dt>its:N</dt><dd>its, with turns of N instructions</dd></dl>` : nothing}
      <p>The <b>reconvergence stack</b> has the groups of lanes of a warp that has split, called <b>warp splits</b>, and the points at which they wait for each other, the innermost first: one group is <b>running</b>, a <b>waiting</b> one runs later, a <b>blocked</b> one waits at a barrier, and a <b>point</b> lists the lanes that have arrived. <b>CTA</b> is the word of PTX for a block of threads.</p></div><div>
      <h2>Keys</h2>
      <dl><dt>→ ←</dt><dd>step, step back</dd><dt>Shift → ←</dt><dd>next, previous split or reconvergence</dd><dt>Home End</dt><dd>start, end</dd><dt>Space</dt><dd>play, pause</dd><dt>+ − 0</dt><dd>in a strip: zoom in, out, all steps</dd><dt>↑ ↓</dt><dd>in the lines, the registers, the lanes: the next, the previous</dd></dl>
      <p>Press a line number to run to the line. Press a lane to follow it. Press a register to see its values in the cells. Drop a recording of <code>gemu record FILE --with all</code> anywhere to open it.</p>
      <p><button class="small" @click=${this.showLicenses}>Licenses of the libraries</button></p></div>
    </section>`;
  }

  /** showLicenses shows the licenses of the libraries in the page: an element of a single file, else a file beside the module. */
  private async showLicenses(): Promise<void> {
    try {
      this.licenses = document.getElementById('gemu-licenses')?.textContent ?? (await (await fetch(new URL('./licenses.txt', import.meta.url))).text());
    } catch (e) {
      this.licenses = `licenses.txt, beside the page, cannot be read: ${(e as Error).message}`;
    }
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLDialogElement>('dialog.licenses')?.showModal();
  }

  override render(): unknown {
    const m = this.model;
    const step = m ? Math.min(this.step, m.steps) : 0;
    return html`<div
        class="page ${this.dropping ? 'dropping' : ''}"
        @dragover=${(e: DragEvent) => (e.preventDefault(), (this.dropping = true))}
        @dragleave=${(e: DragEvent) => e.relatedTarget === null && (this.dropping = false)}
        @drop=${(e: DragEvent) => (e.preventDefault(), (this.dropping = false), void this.openFiles(e.dataTransfer?.files ?? []))}
      >
        ${this.header()}
        <main>
          ${this.helpText()} ${this.intro()} ${m ? html`<div class="sticky">${this.transport()} ${this.say()}</div>` : nothing} ${this.card()}
          ${this.runs.length ? this.timeline() : nothing}
          ${!m && !this.message && !this.runs.length ? this.empty() : nothing}
          ${this.editing && this.request ? this.form() : nothing}
          ${m
            ? html`<div class="columns">${this.narrow ? [this.warp(m, step), this.program(m, step)] : [this.program(m, step), this.warp(m, step)]}</div>
                ${this.panes()}`
            : nothing}
        </main>
      </div>
      <dialog class="link" aria-label="Link">
        <form method="dialog"><h2>A link to this program, at this place</h2><p class="soft">The link holds the program and the launch; no server stores them. It is copied.</p><input readonly aria-label="Link" .value=${this.link} /><button class="primary">Close</button></form>
      </dialog>
      <dialog class="licenses" aria-label="Licenses">
        <form method="dialog"><pre tabindex="0">${this.licenses}</pre><button class="primary">Close</button></form>
      </dialog>`;
  }

  private program(m: WarpModel, step: number): unknown {
    return html`<section class="program" aria-label="Program"><div class="bar"><h2>Program</h2><span class="soft">${this.runs[this.main].label}: lanes at each line</span></div>
      <gemu-program .model=${m} .step=${step} .register=${this.register} .hideNext=${this.asking}></gemu-program></section>`;
  }

  /** warp is the state of the warp. On a narrow page it comes before the program, also for Tab. */
  private warp(m: WarpModel, step: number): unknown {
    return html`<section class="state" aria-label="Warp"><div class="bar"><h2>${warpTitle(m)}</h2><span class="soft">${this.lane >= 0 ? html`lane ${this.lane} <button class="small" @click=${() => (this.lane = -1)}>let go</button>` : ''}</span></div>
      ${this.question()} ${this.warps()}
      <gemu-warp .model=${m} .step=${step} .hex=${this.hex} .register=${this.register} .lane=${this.lane} .asking=${this.asking} .picked=${this.picked}></gemu-warp>
      ${this.asking ? nothing : html`<div class="bar stack-head"><h2>${m.launch.policy.startsWith('stack') ? 'Reconvergence stack' : 'Warp splits'}</h2></div><gemu-stack .model=${m} .step=${step}></gemu-stack>`}</section>`;
  }

  private empty(): unknown {
    return html`<section class="card empty"><h2>${this.engine ? 'Loading…' : 'Open a recording'}</h2><p>${this.engine ? 'The engine starts.' : html`Drop a file made by <code>gemu record FILE --with all -o run.gemu</code> here, or press Open. Several files, one for each policy, are shown one below the other.`}</p></section>`;
  }
}

/** shape returns the size of a launch. */
function shape(l: Launch): string {
  const dims = (d: [number, number, number]) => d.slice(0, d[2] > 1 ? 3 : d[1] > 1 ? 2 : 1).join('×');
  return `grid ${dims(l.grid)}, block ${dims(l.block)}`;
}

function warpTitle(m: WarpModel): string {
  const n = members(m.lanes).length;
  return `${m.launch.grid.some((g) => g > 1) ? `CTA ${m.launch.ctaName(m.info.cta)}, w` : 'W'}arp ${m.info.warp}, ${plural(n, 'lane')}`;
}

const icons: Record<string, string> = {
  start: 'M4 3v10M13 3L6 8l7 5z',
  previous: 'M8 8l6-5v10zM2 8l6-5v10z',
  back: 'M11 3L4 8l7 5z',
  play: 'M4 2.5v11L13 8z',
  pause: 'M4 3h3v10H4zM9 3h3v10H9z',
  forward: 'M5 3l7 5-7 5z',
  next: 'M8 8L2 3v10zM14 8L8 3v10z',
  end: 'M12 3v10M3 3l7 5-7 5z',
};

const icon = (name: string): unknown => html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d=${icons[name]} fill="currentColor" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round"/></svg>`;

customElements.define('gemu-player', GemuPlayer);
