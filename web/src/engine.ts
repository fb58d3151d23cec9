// Engines that run kernels: over HTTP, or as WebAssembly in a worker. A run is a recording.

/** Request is a run of a kernel, in the notation of gemu run: play.Request. */
export interface Request {
  name: string;
  source: string;
  kernel: string;
  grid: [number, number, number];
  block: [number, number, number];
  arguments: string[];
  policy?: string;
  warp?: number;
  sm?: string;
  maxEvents?: number;
  maxSteps?: number;
  memory?: boolean;
  shared?: number;
  cluster?: [number, number, number];
  cooperative?: boolean;
  seed?: number;
  set?: string[];
  files?: Record<string, string>;
}

/** Response is the answer of an engine. */
export interface Response {
  status: 'done' | 'stopped' | 'error' | 'trap' | 'deadlock';
  message: string;
  place?: { file?: string; line: number; column: number };
  argument?: number;
  offset?: number;
  /** field is the field of the request that the engine refuses. */
  field?: string;
  kernels?: { name: string; parameters: { name: string; type: string }[]; block?: [number, number, number] }[];
  policy?: string;
  outputs?: { argument: number; name?: string; type: string; values: string[]; length: number }[];
  events?: number;
  instructions?: number;
}

/** Example is an example kernel with its question. Its texts are Markdown; the step of its moment counts from 1. */
export interface Example {
  id: string;
  title: string;
  question: string;
  answer?: string;
  text: string;
  policies: string[];
  request: Request;
  cuda?: string;
  moment?: { policy: string; step: number; warp?: number };
}

/** Answer is a response with its recording, which is empty if nothing ran. */
export interface Answer {
  response: Response;
  recording: Uint8Array;
}

/** Policy is a reconvergence policy with its description in a line. */
export interface Policy {
  name: string;
  doc: string;
}

export interface Engine {
  /** policies is the policies that the engine has, once it has said them. */
  readonly policies?: Policy[];
  run(request: Request, signal: AbortSignal): Promise<Answer>;
  examples(): Promise<Example[]>;
}

/** parseAnswer splits the bytes of an answer: the length of a text in JSON, the text, the recording. */
export function parseAnswer(bytes: Uint8Array): Answer {
  if (bytes.length < 4) throw new Error('the answer of the engine is empty');
  const n = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (n > bytes.length - 4) throw new Error('the answer of the engine is cut off');
  const response = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + n))) as Response;
  return { response, recording: bytes.slice(4 + n) };
}

class HTTPEngine implements Engine {
  async run(request: Request, signal: AbortSignal): Promise<Answer> {
    const r = await fetch('run', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(request), signal });
    if (!r.ok) throw new Error(`gemu play answers ${r.status}: ${(await r.text()).trim() || r.statusText}`);
    return parseAnswer(new Uint8Array(await r.arrayBuffer()));
  }

  async examples(): Promise<Example[]> {
    const r = await fetch('examples.json');
    return r.ok ? ((await r.json()) as Example[]) : [];
  }
}

type Message = { type: 'ready'; policies: Policy[] } | { type: 'response'; id: number; bytes: Uint8Array } | { type: 'examples'; examples: Example[] } | { type: 'failed'; message: string };

/** WorkerEngine is an engine in a worker, which is started at its first use and again after it was stopped. */
class WorkerEngine implements Engine {
  policies?: Policy[];
  private worker?: Promise<Worker>;
  private id = 0;

  private start(): Promise<Worker> {
    this.worker ??= new Promise((resolve, reject) => {
      const make = (globalThis as { gemuWorker?: () => Worker }).gemuWorker;
      const w = make ? make() : new Worker('engine.js');
      const fail = (message: string) => {
        w.terminate();
        this.worker = undefined;
        reject(new Error(message));
      };
      const ready = (e: MessageEvent<Message>) => {
        if (e.data.type === 'failed') fail(e.data.message);
        if (e.data.type !== 'ready') return;
        w.removeEventListener('message', ready);
        this.policies = e.data.policies;
        resolve(w);
      };
      w.addEventListener('message', ready);
      w.addEventListener('error', (e) => fail(e.message || 'the engine does not start: this browser may lack WebAssembly'));
    });
    return this.worker;
  }

  private async ask<T extends Message['type']>(message: object, wanted: (m: Message) => boolean, signal?: AbortSignal): Promise<Extract<Message, { type: T }>> {
    const w = await this.start();
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const done = () => {
        w.removeEventListener('message', listen);
        w.removeEventListener('error', failed);
        signal?.removeEventListener('abort', stop);
      };
      const listen = (e: MessageEvent<Message>) => {
        if (e.data.type === 'failed') end(new Error(e.data.message));
        if (!wanted(e.data)) return;
        done();
        resolve(e.data as Extract<Message, { type: T }>);
      };
      const end = (reason: unknown) => {
        done();
        w.terminate();
        this.worker = undefined;
        reject(reason);
      };
      const failed = (e: ErrorEvent) => end(new Error(`the engine has failed: ${e.message}`));
      // The engine cannot be interrupted: its worker ends, and the next run starts another.
      const stop = () => end(signal!.reason);
      w.addEventListener('message', listen);
      w.addEventListener('error', failed);
      signal?.addEventListener('abort', stop);
      w.postMessage(message);
    });
  }

  async run(request: Request, signal: AbortSignal): Promise<Answer> {
    const id = ++this.id;
    const m = await this.ask<'response'>({ type: 'run', id, request }, (x) => x.type === 'response' && x.id === id, signal);
    return parseAnswer(new Uint8Array(m.bytes));
  }

  async examples(): Promise<Example[]> {
    return (await this.ask<'examples'>({ type: 'examples' }, (x) => x.type === 'examples')).examples;
  }
}

/** engineOf returns the engine of a page; undefined for a page that only draws recordings. */
export function engineOf(kind: string | undefined): Engine | undefined {
  if (kind === 'http') return new HTTPEngine();
  if (kind === 'wasm') return new WorkerEngine();
  return undefined;
}
