// Runs gemu, built from this repository, for tests.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const root = path.join(import.meta.dirname, '../..');
const dir = mkdtempSync(path.join(tmpdir(), 'gemu-page-'));
const running: ChildProcess[] = [];

process.on('exit', () => rmSync(dir, { recursive: true }));

/** amount is how much tests try, as in the tests in Go: few, ci or all. */
export const amount = process.env.GEMU_TEST ?? 'few';

/** count returns a number for the amount. */
export const count = (few: number, ci: number, all: number): number => (amount === 'all' ? all : amount === 'ci' ? ci : few);

/** binaryOfGemu returns the name of the command, which npm test has built. */
export function binaryOfGemu(): string {
  const name = process.env.GEMU ?? path.join(root, 'web/.tests/gemu');
  if (!existsSync(name)) throw new Error(`there is no ${name}: node build.mjs --tests builds it`);
  return name;
}

/** gemu runs the command and returns its output. It may fail: a kernel with a deadlock is recorded, too. */
export function gemu(...args: string[]): string {
  try {
    return execFileSync(binaryOfGemu(), args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (e) {
    const failed = e as { status: number; stdout: string; stderr: string };
    if (failed.status === 1) return failed.stdout;
    throw new Error(`gemu ${args.join(' ')}: ${failed.stderr}`);
  }
}

let n = 0;

/** record records a run with all optional parts, and returns the file and its bytes. */
export function record(...args: string[]): { file: string; bytes: Uint8Array } {
  const file = path.join(dir, `${n++}.gemu`);
  gemu('record', ...args, '--with', 'all', '-o', file);
  return { file, bytes: new Uint8Array(readFileSync(file)) };
}

/** kernel returns the name of a kernel of the tests. */
export const kernel = (name: string): string => path.join(root, 'web/test/kernels', name + '.ptx');

/** play starts gemu play and returns its address, and its messages up to the note that it serves. */
export function play(...args: string[]): Promise<{ url: string; notes: string }> {
  return new Promise((resolve, reject) => {
    const c = spawn(binaryOfGemu(), ['play', '--no-browser', ...args], { cwd: root });
    running.push(c);
    let [url, notes] = ['', ''];
    const done = () => url.endsWith('\n') && notes.includes('Ctrl-C') && resolve({ url: url.trim(), notes });
    c.stdout.on('data', (d) => ((url += String(d)), done()));
    c.stderr.on('data', (d) => ((notes += String(d)), done()));
    c.on('exit', (status) => reject(new Error(`gemu play ends with ${status}: ${notes}`)));
  });
}

/** stopPlay ends all gemu play. */
export function stopPlay(): void {
  for (const c of running.splice(0)) c.removeAllListeners('exit').kill('SIGINT');
}

let site: string | undefined;

/** builtSite returns a directory with the page and the engine in WebAssembly, which gemu play --build writes at the first call. */
export function builtSite(): string {
  if (!site) gemu('play', '--build', (site = path.join(dir, 'site')));
  return site;
}

/** singleFile returns the page as one file. */
export function singleFile(): string {
  const file = path.join(dir, 'single.html');
  if (!existsSync(file)) gemu('play', '--single', file);
  return file;
}

/** written writes a file of the tests and returns its name. */
export function written(name: string, text: string): string {
  const file = path.join(dir, name);
  writeFileSync(file, text);
  return file;
}
