// The worker of the page that runs kernels with gemu's engine in WebAssembly.
//
//	to the page:   {type: "ready", policies}             the engine has started; its reconvergence policies (play.Policies)
//	               {type: "response", id, bytes}         the end of a run: play.Response.Encode, transferred
//	               {type: "examples", examples}          the example kernels
//	               {type: "failed", message}             the engine has not started, or has ended: start another worker
//	to the worker: {type: "run", id, request}            run a play.Request
//	               {type: "examples"}
//	               {type: "engine", bytes, examples}     the engine and the examples, if this script comes from a blob
//
// To stop a run, the page terminates the worker. Messages before "ready" wait.
"use strict";

(() => {
  const waiting = [];
  let ready = false;
  let examples = [];

  function handle(m) {
    if (m.type === "run") {
      const bytes = gemuRun(JSON.stringify(m.request));
      postMessage({ type: "response", id: m.id, bytes }, [bytes.buffer]);
    } else if (m.type === "examples") {
      postMessage({ type: "examples", examples });
    }
  }

  function fail(error) {
    postMessage({ type: "failed", message: "the engine has stopped: " + (error && error.message || error) });
  }

  // module returns the WebAssembly module of bytes that may be compressed with gzip.
  async function moduleOf(bytes) {
    const head = new Uint8Array(bytes, 0, 2);
    if (head[0] === 0x1f && head[1] === 0x8b) {
      bytes = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    }
    return WebAssembly.compile(bytes);
  }

  async function start(bytes) {
    const go = new Go();
    const started = new Promise((resolve) => (globalThis.gemuReady = resolve));
    const instance = await WebAssembly.instantiate(await moduleOf(bytes), go.importObject);
    const ended = go.run(instance).then(() => Promise.reject(new Error("it has exited")));
    ended.catch(fail); // for example when the memory is used up
    await Promise.race([started, ended]);
    ready = true;
    postMessage({ type: "ready", policies: JSON.parse(gemuPolicies()) });
    for (const m of waiting.splice(0)) handle(m);
  }

  self.onmessage = (e) => {
    if (e.data.type === "engine") {
      examples = e.data.examples;
      start(e.data.bytes).catch(fail);
    } else if (ready) handle(e.data);
    else waiting.push(e.data);
  };

  if (self.location.protocol !== "blob:") {
    importScripts("wasm_exec.js");
    const load = async (name) => {
      const r = await fetch(name);
      if (!r.ok) throw new Error(name + ": " + r.status + " " + r.statusText);
      return r;
    };
    const listed = load("examples.json").then(async (r) => (examples = await r.json()));
    load("gemu.wasm.gz")
      .then((r) => Promise.all([r.arrayBuffer(), listed]))
      .then(([bytes]) => start(bytes))
      .catch(fail);
  }
})();
