// One ladder at a time: move, look, mark. Everything marked is kept by the server before the page goes on.

import { Stage } from "/page/stage.js";

const $ = (name) => document.getElementById(name);
const ASKED = {
  perceptible: ["Find the first step at which you see any change.", "I see a change", "No change at all"],
  objectionable: ["Now the first step at which the change disturbs you.", "It disturbs me", "It never disturbs me"],
};
const stage = new Stage($("stage"));
const loaded = new Map();
let state = null;
let now = null; // the ladder on the stage
let busy = false;

class Refused extends Error {
  constructor(status, content) {
    super(content.said ?? "");
    this.status = status;
    this.content = content;
  }
}

async function ask(path, options) {
  const reply = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  const json = reply.headers.get("content-type")?.startsWith("application/json");
  const content = json ? await reply.json() : {};
  if (!reply.ok) throw new Refused(reply.status, content);
  return content;
}

async function picture(path) {
  const reply = await fetch(path, { credentials: "same-origin", cache: "no-store" });
  if (!reply.ok) throw new Refused(reply.status, {});
  return createImageBitmap(await reply.blob(), { colorSpaceConversion: "none", premultiplyAlpha: "none" });
}

function load(place) {
  if (!loaded.has(place)) {
    const coming = ask(`/api/ladder/${place}`).then(async (ladder) => ({
      ...ladder,
      bitmaps: await Promise.all(ladder.pictures.map(picture)),
    }));
    coming.catch(() => loaded.delete(place));
    loaded.set(place, coming);
  }
  return loaded.get(place);
}

function forget(keep) {
  for (const [place, coming] of loaded) {
    if (keep.includes(place)) continue;
    loaded.delete(place);
    coming.then((ladder) => ladder.bitmaps.forEach((bitmap) => bitmap.close())).catch(() => {});
  }
}

function turnTo(name) {
  for (const part of ["problem", "welcome", "done", "reading"]) $(part).hidden = part !== name;
  if (name !== "reading") $(name).focus();
}

function problem(error) {
  const told = {
    401: "Open this page by your personal link. If you did, the link may be too old or withdrawn: ask whoever sent it for a new one.",
    0: "The server does not answer. Everything marked so far is kept; try again in a while.",
  };
  $("problem-text").textContent = told[error.status ?? 0] ?? (error.message || "Something went wrong. Everything marked so far is kept.");
  turnTo("problem");
}

function guarded(work) {
  return async (...given) => {
    try {
      await work(...given);
    } catch (error) {
      problem(error);
    }
  };
}

// ---- pages ----

async function begin() {
  state = await ask("/api/state");
  stage.protocol = state.protocol;
  stage.halfPeriod = state.half_period;
  for (const part of document.querySelectorAll("[data-protocol]")) part.hidden = part.dataset.protocol !== state.protocol;
  for (const part of document.querySelectorAll("[data-asks]")) part.hidden = !state.objectionable;
  $("how-many").textContent = state.of;
  $("done-many").textContent = state.of;
  $("who").textContent = `You read as ${state.reader}.`;
  $("slider").max = state.steps;
  $("progress").max = state.of;
  $("start").textContent = state.at > 1 ? `Go on with picture ${state.at} of ${state.of}` : "Begin";
  if (state.at > state.of) return turnTo("done");
  turnTo("welcome");
  load(state.at).catch(() => {});
}

async function open(place) {
  if (place > state.of) return turnTo("done");
  turnTo("reading");
  busy = true;
  if (now) $("question").textContent = "Loading …";
  const ladder = await load(place);
  busy = false;
  now = { place, ladder, kept: ladder.kept, step: 0, furthest: 0, seconds: 0, since: performance.now() };
  now.asks = now.kept && !now.kept.done ? "objectionable" : "perceptible";
  now.step = now.asks === "objectionable" ? now.kept.perceptible : 0;
  stage.show(ladder.bitmaps[0], ladder.bitmaps[now.step], true);
  forget([place, place + 1]); // only now: the pictures before stood on the stage until here
  tell();
  $("slider").focus({ preventScroll: true });
  if (place <= state.at && place < state.of) load(place + 1).catch(() => {});
}

function tell() {
  const [question, mark, never] = ASKED[now.asks];
  const again = now.kept?.done;
  const before = !again ? "" : now.kept.perceptible === null ? "You marked: no change. " : `You marked step ${now.kept.perceptible}. `;
  $("question").textContent = before + (again ? "Mark again to correct it." : question);
  $("mark-text").textContent = mark;
  $("never-text").textContent = never;
  $("place").textContent = `Picture ${now.place} of ${state.of}`;
  $("progress").value = state.at - 1;
  $("on").hidden = !again;
  $("back").disabled = now.place === 1;
  shift(now.step);
}

// ---- the slider ----

function shift(step) {
  if (!now || busy) return;
  now.step = Math.min(Math.max(step, 0), state.steps);
  now.furthest = Math.max(now.furthest, now.step);
  stage.show(now.ladder.bitmaps[0], now.ladder.bitmaps[now.step], false);
  const slider = $("slider");
  slider.value = now.step;
  slider.setAttribute("aria-valuetext", now.step ? `step ${now.step} of ${state.steps}` : "the original");
  $("step").textContent = now.step ? `step ${now.step} / ${state.steps}` : "original";
  $("never").setAttribute("aria-disabled", String(now.furthest < state.steps));
  const first = now.asks === "objectionable" ? now.kept.perceptible : 1;
  $("mark").setAttribute("aria-disabled", String(now.step < first));
  notice();
}

function notice(text) {
  const zoomed = Math.abs((window.visualViewport?.scale ?? 1) - 1) > 0.01;
  if (zoomed) text = "The page is zoomed in, so the picture is not shown pixel for pixel. Please zoom out to go on.";
  else if (!text && now && stage.larger) text = "The picture is larger than the window. Drag it, or use Shift and the arrow keys, to see the rest.";
  if ($("notice").textContent !== (text ?? "")) $("notice").textContent = text ?? "";
  return zoomed;
}

function elapsed() {
  const running = document.hidden ? 0 : performance.now() - now.since;
  return (now.seconds + running) / 1000;
}

document.addEventListener("visibilitychange", () => {
  if (!now) return;
  if (document.hidden) now.seconds += performance.now() - now.since;
  now.since = performance.now();
});

// ---- marking ----

function reason() {
  const dialog = $("why");
  dialog.returnValue = "leave";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const chosen = new FormData($("why-form")).get("reason");
      const own = $("why-text").value.trim();
      resolve(dialog.returnValue === "keep" ? (chosen === "other" && own ? own : chosen) : null);
    }, { once: true });
  });
}

const mark = guarded(async (never) => {
  if (!now || busy || notice()) return;
  const second = now.asks === "objectionable";
  if (never && now.furthest < state.steps) return notice("Look at all steps first: move the slider to the last one.");
  if (!never && now.step < 1) return notice("This is the original. Move the slider to the right first.");
  if (second && !never && now.step < now.kept.perceptible) return notice(`You first saw a change at step ${now.kept.perceptible}; it cannot disturb before that.`);
  const point = never ? null : now.step;
  const sent = {
    slot: now.place,
    after: now.kept?.revision ?? -1,
    perceptible: second ? now.kept.perceptible : point,
    objectionable: second ? point : null,
    asked: second,
    reason: "",
  };
  if (!second && now.kept) {
    if (point === now.kept.perceptible && (point === null || !state.objectionable)) return go();
    sent.reason = await reason();
    if (sent.reason === null) return $("slider").focus();
  }
  const [wide, high] = stage.shown;
  sent.screen = {
    shown_width: wide,
    shown_height: high,
    pixel_ratio: window.devicePixelRatio,
    zoom: window.visualViewport?.scale ?? 1,
    distance_cm: Number($("distance").value) || null,
    seconds: elapsed(),
  };
  await keep(sent);
});

// Send a mark until the server has kept it; sent twice it is kept once.
async function keep(sent) {
  busy = true;
  let kept = null;
  for (let wait = 500; kept === null; wait = Math.min(2 * wait, 8000)) {
    try {
      kept = await ask("/api/mark", {
        method: "POST",
        headers: { "content-type": "application/json", "x-form": state.form },
        body: JSON.stringify(sent),
      });
    } catch (error) {
      if (error.status === 409) kept = { ...error.content, another: true };
      else if (error.status && error.status < 500) throw error;
      else {
        $("saved").textContent = "";
        notice("Not kept yet: the server does not answer. Trying again; leave this page open.");
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }
  busy = false;
  now.kept = kept.kept;
  now.ladder.kept = kept.kept;
  state.at = kept.at ?? (await ask("/api/state")).at;
  $("saved").textContent = kept.another ? "" : "✓ kept";
  setTimeout(() => ($("saved").textContent = ""), 1500);
  if (kept.another) {
    await go();
    return notice("This picture was marked in another window; that mark was kept.");
  }
  if (now.kept.done) return go();
  now.asks = "objectionable";
  now.furthest = now.step;
  now.seconds = 0;
  now.since = performance.now();
  tell();
}

function go() {
  return open(state.at);
}

// ---- keys and buttons ----

const press = {
  ArrowRight: () => shift(now.step + 1),
  ArrowUp: () => shift(now.step + 1),
  ArrowLeft: () => shift(now.step - 1),
  ArrowDown: () => shift(now.step - 1),
  Home: () => shift(0),
  End: () => shift(state.steps),
  Enter: () => mark(false),
  n: () => mark(true),
  b: () => $("back").click(),
  g: () => $("on").hidden || $("on").click(),
  Escape: () => $("pause").click(),
};
const PAN = { ArrowRight: [60, 0], ArrowLeft: [-60, 0], ArrowDown: [0, 60], ArrowUp: [0, -60] };

document.addEventListener("keydown", (event) => {
  if ($("reading").hidden || !now || $("why").open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.shiftKey && PAN[event.key]) {
    stage.movePan(...PAN[event.key]);
    return event.preventDefault();
  }
  if (event.key === "Enter" && event.target instanceof HTMLButtonElement) return;
  const work = press[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!work || event.repeat && ["Enter", "n", "N", "b", "B", "Escape"].includes(event.key)) return;
  event.preventDefault();
  work();
});

$("slider").addEventListener("input", (event) => shift(Number(event.target.value)));
$("less").addEventListener("click", () => shift(now.step - 1));
$("more").addEventListener("click", () => shift(now.step + 1));
$("mark").addEventListener("click", () => mark(false));
$("never").addEventListener("click", () => mark(true));
$("back").addEventListener("click", guarded(async () => { if (!busy && now.place > 1) await open(now.place - 1); }));
$("on").addEventListener("click", guarded(go));
$("pause").addEventListener("click", guarded(begin));
$("start").addEventListener("click", guarded(go));
$("look-back").addEventListener("click", guarded(async () => open(state.of)));
$("again").addEventListener("click", () => location.reload());
$("why-text").addEventListener("focus", () => ($("why-form").elements.reason.value = "other"));
stage.onResize = () => notice();
window.visualViewport?.addEventListener("resize", () => notice());

guarded(begin)();
