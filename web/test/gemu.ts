// Runs gemu, built from this repository, for tests.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const root = path.join(import.meta.dirname, '../..');
const dir = mkdtempSync(path.join(tmpdir(), 'gemu-page-'));
let binary = process.env.GEMU;

/** binaryOfGemu returns the name of the command, which it builds at its first call. */
export function binaryOfGemu(): string {
  if (!binary) {
    binary = path.join(dir, 'gemu');
    execFileSync('go', ['build', '-o', binary, './cmd/gemu'], { cwd: root });
  }
  return binary;
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
