// In a page of a single file: makes the editor and the worker from the elements before this script. An element has the bytes of a
// file in base64.
"use strict";

(() => {
  // bytesOf returns the bytes of an element; null if there is none.
  const bytesOf = (id) => {
    const element = document.getElementById(id);
    return element && Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  };
  const script = (bytes) => URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));

  let editor;
  globalThis.gemuEditor = () => (editor ??= script(bytesOf("gemu-editor")));

  const worker = bytesOf("gemu-worker");
  if (!worker) return;
  const url = script(worker);
  globalThis.gemuWorker = () => {
    const w = new Worker(url);
    const examples = JSON.parse(document.getElementById("gemu-examples").textContent);
    w.postMessage({ type: "engine", bytes: bytesOf("gemu-wasm").buffer, examples });
    return w;
  };
})();
