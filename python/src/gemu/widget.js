// The front end of gemu.Player: the page of gemu play in a frame. Python sends the page once for each view; recordings, the program
// and the step are traits. docs/play.md has the messages of the page.

// bytesOf returns the bytes of a DataView as an ArrayBuffer of their own.
const bytesOf = (view) => view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);

// isDark reports whether an element has a dark background: notebooks have themes of their own, which need not be that of the system.
function isDark(element) {
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  for (let e = element; e; e = e.parentElement ?? e.getRootNode().host) {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = getComputedStyle(e).backgroundColor;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    if (alpha > 127) return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.documentElement).colorScheme.includes("dark");
}

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "gemu play";
  frame.style.cssText = "width: 100%; box-sizing: border-box; border: 1px solid rgb(128 128 128 / 40%); display: block";
  const fit = () => (frame.style.height = `${model.get("height")}px`);
  // A browser tells the page in the frame the colour scheme of the frame as the preferred one.
  const colour = () => (frame.style.colorScheme = isDark(el) ? "dark" : "light");
  fit();
  el.append(frame);

  let url = "";
  let ready = false; // the page has opened what it should show
  let shown = -1; // the step that the page shows
  let awaited = 0; // states that the page will send as answers; those before the last are of earlier steps
  let start = 0; // the step to show when the program has run
  const post = (message) => frame.contentWindow?.postMessage(message, "*");
  const go = (step) => {
    awaited++;
    post({ gemu: "step", step });
  };
  const open = () => {
    if (!ready) return;
    const recordings = model.get("recordings");
    const request = model.get("request");
    if (recordings.length > 0) {
      post({ gemu: "open", recordings: recordings.map((view, i) => ({ name: model.get("names")[i] ?? `run ${i + 1}`, bytes: bytesOf(view) })) });
      go(model.get("step"));
    } else if (Object.keys(request).length > 0) {
      start = model.get("step");
      awaited++; // the state after the run
      post({ gemu: "run", request, policies: model.get("policies") });
    }
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
      if (awaited > 0) awaited--;
      if (awaited > 0) return;
      if (start > 0) {
        go(start);
        start = 0;
        return;
      }
      model.set("state", state);
      model.set("step", state.step);
      model.save_changes();
    }
  };
  const onCustom = (content, buffers) => {
    if (content.gemu === "page") {
      url = URL.createObjectURL(new Blob([buffers[0]], { type: "text/html" }));
      colour();
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
    if (ready && (awaited > 0 || model.get("step") !== shown)) go(model.get("step"));
  };
  // Front ends change attributes of these elements when the user chooses another theme.
  const themes = new MutationObserver(colour);
  for (const e of [document.documentElement, document.body]) themes.observe(e, { attributes: true });
  addEventListener("message", onMessage);
  model.on("msg:custom", onCustom);
  model.on("change:step", onStep);
  model.on("change:recordings change:request", open);
  model.on("change:height", fit);
  model.send({ gemu: "page" });
  return () => {
    themes.disconnect();
    removeEventListener("message", onMessage);
    model.off("msg:custom", onCustom);
    model.off("change:step", onStep);
    model.off("change:recordings change:request", open);
    model.off("change:height", fit);
    if (url) URL.revokeObjectURL(url);
  };
}

export default { render };
