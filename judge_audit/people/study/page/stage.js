// The stage: one canvas whose own pixels are the screen's pixels, so that nothing is ever scaled or smoothed.

const SURROUND = "#777777";
const GAP = 24; // device pixels between two pictures side by side

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.protocol = "slider";
    this.halfPeriod = 250;
    this.original = null;
    this.copy = null;
    this.pan = [0, 0];
    this.drawn = null;
    this.onResize = () => {};
    const observer = new ResizeObserver((entries) => this.fit(entries[0]));
    try {
      observer.observe(canvas, { box: "device-pixel-content-box" });
    } catch {
      observer.observe(canvas);
    }
    this.hold = null;
    canvas.addEventListener("pointerdown", (event) => this.grasp(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (this.hold = null));
    requestAnimationFrame((time) => this.tick(time));
  }

  fit(entry) {
    // Where the browser tells the exact box it knows how edges were rounded; an emulated screen tells it wrongly.
    const exact = entry.devicePixelContentBoxSize?.[0];
    const ratio = window.devicePixelRatio;
    const side = (length, told) => (told && Math.abs(told - length * ratio) <= 1 ? told : Math.round(length * ratio));
    const wide = side(entry.contentRect.width, exact?.inlineSize);
    const high = side(entry.contentRect.height, exact?.blockSize);
    if (wide !== this.canvas.width || high !== this.canvas.height) {
      this.canvas.width = wide;
      this.canvas.height = high;
    }
    this.movePan(0, 0);
    this.onResize();
  }

  // Show a picture and its copy; the place looked at stays the same while the slider moves.
  show(original, copy, afresh) {
    this.original = original;
    this.copy = copy;
    if (afresh) this.pan = [0, 0];
    this.movePan(0, 0);
  }

  get area() {
    const wide = this.canvas.width;
    const each = this.protocol === "side_by_side" ? Math.floor((wide - GAP) / 2) : wide;
    return [Math.max(1, each), Math.max(1, this.canvas.height)];
  }

  // How much of the picture is to be seen, in device pixels.
  get shown() {
    if (!this.original) return [0, 0];
    const [wide, high] = this.area;
    return [Math.min(wide, this.original.width), Math.min(high, this.original.height)];
  }

  get larger() {
    if (!this.original) return false;
    const [wide, high] = this.shown;
    return wide < this.original.width || high < this.original.height;
  }

  movePan(across, down) {
    if (this.original) {
      const [wide, high] = this.area;
      const most = [Math.max(0, this.original.width - wide), Math.max(0, this.original.height - high)];
      this.pan = [across, down].map((move, side) => Math.round(Math.min(Math.max(this.pan[side] + move, -most[side] / 2), most[side] / 2)));
      this.canvas.classList.toggle("larger", this.larger);
    }
    this.drawn = null;
  }

  grasp(event) {
    this.hold = [event.clientX, event.clientY];
    this.canvas.setPointerCapture(event.pointerId);
  }

  drag(event) {
    if (!this.hold) return;
    const ratio = window.devicePixelRatio;
    this.movePan((this.hold[0] - event.clientX) * ratio, (this.hold[1] - event.clientY) * ratio);
    this.hold = [event.clientX, event.clientY];
  }

  tick(time) {
    const turn = this.protocol !== "flicker" || Math.floor(time / this.halfPeriod) % 2 === 1;
    if (this.original && this.drawn !== turn) {
      this.draw(turn);
      this.drawn = turn;
    }
    requestAnimationFrame((next) => this.tick(next));
  }

  draw(turn) {
    const context = this.context;
    context.imageSmoothingEnabled = false;
    context.fillStyle = SURROUND;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.protocol === "side_by_side") {
      this.place(this.original, 0);
      this.place(this.copy, this.area[0] + GAP);
    } else {
      this.place(turn ? this.copy : this.original, 0);
    }
  }

  // Draw one picture pixel for pixel within its area, at whole device pixels.
  place(picture, left) {
    const [wide, high] = this.area;
    const x = Math.floor((wide - picture.width) / 2) - this.pan[0];
    const y = Math.floor((high - picture.height) / 2) - this.pan[1];
    const context = this.context;
    context.save();
    context.beginPath();
    context.rect(left, 0, wide, high);
    context.clip();
    context.drawImage(picture, left + x, y);
    context.restore();
  }
}
