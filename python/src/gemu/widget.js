// The front end of gemu.Player: the page of gemu play in a frame. Python sends the page once for each view; recordings, the program
// and the step are traits. docs/play.md has the messages of the page.

// bytesOf returns the bytes of a DataView as an ArrayBuffer of their own.
const bytesOf = (view) => view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "gemu play";
  frame.style.cssText = "width: 100%; border: 0; display: block";
  const fit = () => (frame.style.height = `${model.get("height")}px`);
  fit();
  el.append(frame);

  let url = "";
  let ready = false; // the page has opened what it should show
  let shown = -1; // the step that the page shows
  const post = (message) => frame.contentWindow?.postMessage(message, "*");
  const open = () => {
    if (!ready) return;
    const recordings = model.get("recordings");
    const request = model.get("request");
    const step = model.get("step");
    if (recordings.length > 0) {
      post({ gemu: "open", recordings: recordings.map((view, i) => ({ name: model.get("names")[i] ?? `run ${i + 1}`, bytes: bytesOf(view) })) });
    } else if (Object.keys(request).length > 0) {
      post({ gemu: "run", request, policies: model.get("policies") });
    }
    if (step > 0) post({ gemu: "step", step });
  };
  const onMessage = (event) => {
    const message = event.data;
    if (event.source !== frame.contentWindow || typeof message !== "object" || message === null) return;
    if (message.gemu === "ready") {
      ready = true;
      open();
    } else if (message.gemu === "state" && ready) {
      const { gemu, ...state } = message;
      shown = state.step;
      model.set("state", state);
      model.set("step", state.step);
      model.save_changes();
    }
  };
  const onCustom = (content, buffers) => {
    if (content.gemu === "page") {
      url = URL.createObjectURL(new Blob([buffers[0]], { type: "text/html" }));
      frame.src = url;
    } else if (content.gemu === "error") {
      frame.remove();
      const text = document.createElement("pre");
      text.textContent = content.message;
      el.append(text);
    } else {
      post(content);
    }
  };
  const onStep = () => {
    if (ready && model.get("step") !== shown) post({ gemu: "step", step: model.get("step") });
  };
  addEventListener("message", onMessage);
  model.on("msg:custom", onCustom);
  model.on("change:step", onStep);
  model.on("change:recordings change:request", open);
  model.on("change:height", fit);
  model.send({ gemu: "page" });
  return () => {
    removeEventListener("message", onMessage);
    model.off("msg:custom", onCustom);
    model.off("change:step", onStep);
    model.off("change:recordings change:request", open);
    model.off("change:height", fit);
    if (url) URL.revokeObjectURL(url);
  };
}

export default { render };
