// A server for tests of the page: the files of play/page, and an engine that answers as gemu play does, by running gemu record.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Example, Request, Response } from '../src/engine.ts';
import { kernel, root } from './gemu.ts';

/** Served is a server that runs. */
export interface Served {
  url: string;
  close(): void;
}

const types: Record<string, string> = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.txt': 'text/plain', '.json': 'application/json' };
const policyOfPage = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self' data: blob:; worker-src 'self' blob:";

const source = (name: string): string => readFileSync(kernel(name), 'utf8');

/** example returns an example of a kernel of the tests. */
const example = (id: string, title: string, question: string, args: string[], policies: string[], step: number): Example => ({
  id,
  title,
  question,
  text: 'A warp has one instruction at a time.\n\nAt a branch whose lanes disagree it has two places to go.',
  policies,
  request: { name: id + '.ptx', source: source(id), kernel: '', grid: [1, 1, 1], block: [32, 1, 1], arguments: args },
  moment: { policy: policies[0], step: step + 1 },
});

export const examples: Example[] = [
  example('ifelse', 'If and else', 'Which lanes go to EVEN, and how many steps does the if take?', ['u32[32]', 'u32[32]=iota'], ['stack', 'frontier'], 10),
  example('spin', 'A lock in a warp', 'Who takes the lock, and who waits for whom?', ['u32[1]', 'u32[1]'], ['stack', 'its:8'], 12),
  example('loopbreak', 'A loop that ends at different times', 'Which lane is last?', ['u32[32]', '200'], ['stack', 'pc2'], 40),
  example('volta', 'Independent scheduling', 'Which line is next?', ['u32[32]'], ['its:1', 'stack'], 8),
  example('strided', 'Coalescing', 'How many sectors?', ['u32[32]', 'u32[4096]=iota', '8'], ['stack'], 8),
  example('barbranch', 'A barrier in a branch', 'Who waits for whom?', ['u32[64]', '16'], ['its'], 6),
];

const dir = mkdtempSync(path.join(tmpdir(), 'gemu-page-server-'));
let n = 0;

/** run answers a request by gemu record. */
function run(request: Request, binary: string): Promise<Buffer> {
  const k = n++;
  const [file, out] = [path.join(dir, `${k}-${request.name.replace(/\W/g, '_')}.ptx`), path.join(dir, `${k}.gemu`)];
  writeFileSync(file, request.source);
  const args = ['record', file, '-g', request.grid.join(','), '-b', request.block.join(','), '--with', 'all', '--reconverge', request.policy ?? 'auto', '--max-events', String(request.maxEvents ?? 200000), '--warp', String(request.warp ?? 32), '-o', out];
  if (request.kernel) args.push('-k', request.kernel);
  args.push('-a', ...request.arguments);
  return new Promise((resolve) => {
    execFile(binary, args, { cwd: root, timeout: 60_000 }, (error, _, stderr) => {
      const message = stderr.replaceAll(file, request.name).split('\n').filter((l) => !/events in \d+ bytes/.test(l)).join('\n').trim();
      const place = /:(\d+):(\d+):/.exec(message);
      const status = !error ? 'done' : error.code === 2 ? 'error' : /deadlock/.test(message) ? 'deadlock' : 'trap';
      const parameters = [...request.source.matchAll(/\.param\s+\.(\w+)\s+(\w+)/g)].map((m) => ({ name: m[2], type: '.' + m[1] }));
      const name = /\.entry\s+(\w+)/.exec(request.source)?.[1] ?? '';
      const response: Response = { status, message, policy: request.policy, kernels: [{ name, parameters }], outputs: [{ argument: 0, name: parameters[0]?.name, type: 'u32', values: ['0', '101', '6'], length: 3 }] };
      if (status === 'error' && place) response.place = { line: Number(place[1]), column: Number(place[2]) };
      const json = Buffer.from(JSON.stringify(response));
      const head = Buffer.alloc(4);
      head.writeUInt32LE(json.length);
      resolve(Buffer.concat([head, json, status === 'error' ? Buffer.alloc(0) : readFileSync(out)]));
    });
  });
}

/** serve starts a server; start is the content of gemu-start of the page with this path. */
export async function serve(starts: Record<string, object>, binary: string): Promise<Served> {
  const server = createServer(async (req, res) => {
    const name = new URL(req.url!, 'http://x').pathname.slice(1);
    if (req.method === 'POST' && name === 'run') {
      const chunks: Buffer[] = [];
      for await (const c of req) chunks.push(c as Buffer);
      const answer = await run(JSON.parse(Buffer.concat(chunks).toString()) as Request, binary);
      return res.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(answer);
    }
    if (name === 'outer') return res.writeHead(200, { 'Content-Type': types['.html'] }).end('<!doctype html><link rel="icon" href="data:,"><title>a page that embeds the page</title>');
    if (name === 'examples.json') return res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(examples));
    if (name in starts) {
      const html = readFileSync(path.join(root, 'play/page/index.html'), 'utf8').replace('id="gemu-start">', () => 'id="gemu-start">' + JSON.stringify(starts[name]).replaceAll('<', '\\u003c'));
      return res.writeHead(200, { 'Content-Type': types['.html'], 'Content-Security-Policy': policyOfPage }).end(html);
    }
    file(path.join(root, 'play/page'), name, res);
  });
  return listening(server);
}

/** serveFiles serves a directory, as a web server without any settings does. */
export async function serveFiles(dir: string): Promise<Served> {
  return listening(createServer((req, res) => file(dir, new URL(req.url!, 'http://x').pathname.slice(1) || 'index.html', res)));
}

/** file answers with a file of a directory. */
function file(dir: string, name: string, res: ServerResponse): void {
  try {
    const content = readFileSync(path.join(dir, path.basename(name)));
    res.writeHead(200, { 'Content-Type': types[path.extname(name)] ?? 'application/octet-stream' }).end(content);
  } catch {
    res.writeHead(404).end();
  }
}

/** listening starts a server on a free port. */
export async function listening(server: Server): Promise<Served> {
  await new Promise<void>((r) => server.listen(0, '127.0.0.1', r));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => (server.close(), server.closeAllConnections()) };
}
