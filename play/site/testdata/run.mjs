// Runs requests with the engine in WebAssembly: node run.mjs wasm_exec.js gemu.wasm REQUESTS RESPONSES POLICIES. REQUESTS is an array in
// JSON; POLICIES becomes the policies that the engine has. RESPONSES has for each request the number of bytes, in four bytes, little endian, and the bytes.
import fs from "node:fs";

const [loader, module, requests, responses, policies] = process.argv.slice(2);
await import(loader);
const go = new Go();
let t = performance.now();
const time = (what) => {
  console.log(what, Math.round(performance.now() - t), "ms");
  t = performance.now();
};
const compiled = await WebAssembly.compile(fs.readFileSync(module));
time("compile");
const started = new Promise((resolve) => (globalThis.gemuReady = resolve));
go.run(await WebAssembly.instantiate(compiled, go.importObject));
await started;
time("start");
fs.writeFileSync(policies, gemuPolicies());
const out = fs.openSync(responses, "w");
for (const request of JSON.parse(fs.readFileSync(requests))) {
  const bytes = gemuRun(JSON.stringify(request));
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, bytes.length, true);
  fs.writeSync(out, new Uint8Array(length.buffer));
  fs.writeSync(out, bytes);
}
time("runs");
process.exit(0);
