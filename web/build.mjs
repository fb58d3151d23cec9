// Builds the page into play/page and the page of reports into play/report (embedded by package play), checks that the built files are
// current, and builds the tests.
//
//   node build.mjs           writes play/page and play/report, and prints the sizes
//   node build.mjs --check   fails if a written file differs from the sources, or a size limit is exceeded
//   node build.mjs --tests   writes the tests to .tests, for node --test, and the command gemu, which they run

import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import path from 'node:path';

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(here, '../play');

/** limits are the largest sizes in bytes after compression with brotli: of what a reader loads at the start, of the editor, and of the page of reports. */
const limits = { page: 60_000, editor: 90_000, report: 15_000 };

if (process.argv.includes('--tests')) {
  const dir = path.join(here, '.tests');
  rmSync(dir, { recursive: true, force: true });
  const tests = readdirSync(path.join(here, 'test')).filter((f) => /\.(test|bench|shots)\.ts$/.test(f));
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
  execFileSync('go', ['build', '-o', path.join(dir, 'gemu'), './cmd/gemu'], { cwd: path.join(here, '..'), stdio: 'inherit' });
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
/** bundle returns the module of an entry, which a page may contain, and adds its packages to a set. */
async function bundle(entry, packages) {
  const r = await build({ ...common, entryPoints: [entry], external: ['./editor.js'], plugins: [minifyTemplates], metafile: true });
  for (const input of Object.keys(r.metafile.inputs)) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1];
    if (name) packages.add(name);
  }
  const text = r.outputFiles[0].text;
  if (/<\/script/i.test(text)) throw new Error(`${entry} contains </script: it cannot be part of a page`);
  return text;
}
const source = (name) => readFileSync(path.join(here, 'static', name), 'utf8');
/** licenses returns the licenses of packages. */
const licenses = (packages) =>
  `The page contains these libraries.\n\n${[...packages]
    .sort()
    .map((name) => {
      const dir = path.join(here, 'node_modules', name);
      const { version, license } = JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8'));
      const file = readdirSync(dir).find((f) => /^licen[cs]e/i.test(f));
      return `${name} ${version}: ${license}\n\n${file ? readFileSync(path.join(dir, file), 'utf8').trim() : ''}\n`;
    })
    .join('\n')}`;
const ofPage = new Set();
files.set('page/gemu.js', Buffer.from(await bundle('src/gemu.ts', ofPage)));
files.set('page/editor.js', Buffer.from(await bundle('src/editor.ts', ofPage)));
files.set('page/licenses.txt', Buffer.from(licenses(ofPage)));
for (const name of ['index.html', 'gemu.css']) files.set(`page/${name}`, Buffer.from(source(name)));
// The page of reports is one file.
const ofReport = new Set();
const script = await bundle('src/report.ts', ofReport);
const parts = { '/* gemu.css */': source('gemu.css'), '/* report.js */': script, '/* licenses.txt */': licenses(ofReport) };
let report = source('report.html');
for (const [place, text] of Object.entries(parts)) report = report.replace(place, () => text.trim());
files.set('report/report.html', Buffer.from(report));

const brotli = (b) => brotliCompressSync(b, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
const size = { page: 0, editor: 0, report: 0 };
for (const [name, b] of files) {
  const n = brotli(b);
  if (name === 'page/editor.js') size.editor += n;
  else if (name !== 'page/licenses.txt') size[path.dirname(name)] += n;
  console.log(`${name.padEnd(18)} ${String(b.length).padStart(8)} bytes ${String(n).padStart(7)} with brotli`);
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
  const have = ['page', 'report'].flatMap((dir) => readdirSync(path.join(out, dir)).filter((f) => !f.startsWith('.')).map((f) => `${dir}/${f}`));
  for (const name of new Set([...files.keys(), ...have])) {
    const b = files.get(name);
    if (!b || !have.includes(name) || !b.equals(readFileSync(path.join(out, name)))) {
      console.error(`play/${name} differs from the sources in web: run npm run build in web`);
      failed = true;
    }
  }
} else {
  for (const [name, b] of files) {
    mkdirSync(path.dirname(path.join(out, name)), { recursive: true });
    writeFileSync(path.join(out, name), b);
  }
}
process.exit(failed ? 1 : 0);
