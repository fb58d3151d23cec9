// Builds the page into play/page (embedded by package play), checks that the built files are current, and builds the tests.
//
//   node build.mjs           writes play/page, and prints the sizes
//   node build.mjs --check   fails if play/page differs from the sources, or a size limit is exceeded
//   node build.mjs --tests   writes the tests to .tests, for node --test

import { build } from 'esbuild';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(here, '../play/page');

/** limits are the largest sizes in bytes after compression with brotli: of what a reader loads at the start, and of the editor. */
const limits = { page: 60_000, editor: 90_000 };

if (process.argv.includes('--tests')) {
  const dir = path.join(here, '.tests');
  rmSync(dir, { recursive: true, force: true });
  const tests = readdirSync(path.join(here, 'test')).filter((f) => /\.(test|bench)\.ts$/.test(f));
  await build({
    absWorkingDir: here,
    entryPoints: tests.map((f) => `test/${f}`),
    outdir: dir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  process.exit();
}

const common = { absWorkingDir: here, bundle: true, format: 'esm', target: 'es2022', minify: true, charset: 'utf8', legalComments: 'none', write: false, logLevel: 'warning' };
/** minifyTemplates removes the indentation in templates of HTML and CSS, which esbuild keeps. */
const minifyTemplates = {
  name: 'templates',
  setup(b) {
    b.onLoad({ filter: /src\/.*\.ts$/ }, ({ path: file }) => ({
      loader: 'ts',
      contents: readFileSync(file, 'utf8').replace(/\b(html|css|svg)`[^`]*`/g, (t) => t.replace(/\n\s+/g, '\n')),
    }));
  },
};
const files = new Map();
const packages = new Set();
for (const [entry, name] of [
  ['src/gemu.ts', 'gemu.js'],
  ['src/editor.ts', 'editor.js'],
]) {
  const r = await build({ ...common, entryPoints: [entry], external: ['./editor.js'], plugins: [minifyTemplates], metafile: true });
  for (const input of Object.keys(r.metafile.inputs)) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1];
    if (name) packages.add(name);
  }
  if (/<\/script/i.test(r.outputFiles[0].text)) throw new Error(`${name} contains </script: it cannot be part of a page`);
  files.set(name, Buffer.from(r.outputFiles[0].contents));
}
for (const name of ['index.html', 'gemu.css']) files.set(name, readFileSync(path.join(here, 'static', name)));
const licenses = [...packages].sort().map((name) => {
  const dir = path.join(here, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8'));
  const file = readdirSync(dir).find((f) => /^licen[cs]e/i.test(f));
  return `${name} ${version}: ${license}\n\n${file ? readFileSync(path.join(dir, file), 'utf8').trim() : ''}\n`;
});
files.set('licenses.txt', Buffer.from(`The page contains these libraries.\n\n${licenses.join('\n')}`));

const brotli = (b) => brotliCompressSync(b, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
const size = { page: 0, editor: 0 };
for (const [name, b] of files) {
  const n = brotli(b);
  if (name !== 'licenses.txt') size[name === 'editor.js' ? 'editor' : 'page'] += n;
  console.log(`${name.padEnd(14)} ${String(b.length).padStart(8)} bytes ${String(n).padStart(7)} with brotli`);
}
let failed = false;
for (const [part, limit] of Object.entries(limits)) {
  console.log(`${part}: ${size[part]} of ${limit} bytes`);
  if (size[part] > limit) {
    console.error(`the ${part} is larger than its limit`);
    failed = true;
  }
}
if (process.argv.includes('--check')) {
  const have = readdirSync(out).filter((f) => !f.startsWith('.'));
  for (const name of new Set([...files.keys(), ...have])) {
    const b = files.get(name);
    if (!b || !have.includes(name) || !b.equals(readFileSync(path.join(out, name)))) {
      console.error(`play/page/${name} differs from the sources in web: run npm run build in web`);
      failed = true;
    }
  }
} else {
  mkdirSync(out, { recursive: true });
  for (const [name, b] of files) writeFileSync(path.join(out, name), b);
}
process.exit(failed ? 1 : 0);
