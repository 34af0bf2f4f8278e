// Points in WebGL: the GPU has the old and the new places, and a glide changes one number.

const VERTEX = `
attribute vec3 from;
attribute vec3 to;
attribute vec4 look;
attribute float shape;
uniform float done;
uniform vec3 across;
uniform vec3 up;
uniform vec3 near;
uniform vec2 stretch;
uniform vec2 shift;
uniform mediump float size;
varying vec4 colour;
varying float outline;
void main() {
  vec3 at = mix(from, to, done);
  vec2 place = vec2(dot(at, across), dot(at, up)) * stretch + shift;
  gl_Position = look.a > 0.0 ? vec4(place, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = look.a > 0.0 ? size : 0.0;
  // In space what is far is faint.
  colour = vec4(look.rgb, look.a * clamp(1.0 + 0.55 * dot(at, near), 0.35, 1.0));
  outline = shape;
}`;

// Circle, square, diamond and cross, as in the legend; edges are softened over one pixel.
const FRAGMENT = `
precision mediump float;
varying vec4 colour;
varying float outline;
uniform mediump float size;
uniform float opacity;
void main() {
  vec2 p = abs(gl_PointCoord * 2.0 - 1.0);
  float far = length(p);
  if (outline > 2.5) far = max(min(p.x, p.y) * 2.6, max(p.x, p.y));
  else if (outline > 1.5) far = p.x + p.y;
  else if (outline > 0.5) far = max(p.x, p.y) * 1.12;
  float soft = 2.0 / size;
  float cover = clamp((1.0 - far) / soft + 0.5, 0.0, 1.0);
  gl_FragColor = vec4(colour.rgb, 1.0) * min(1.0, colour.a * opacity) * cover;
}`;

const GLIDE = 420;
// Fast at first, then slower, so that the points follow a slider that keeps moving.
const ease = (t) => 1 - (1 - t) ** 3;

export const AWAY = 1e4; // where points are that have no place
export const ASLANT = [0.6, 0.4]; // how three axes are seen first
const MANY = 5000; // points from which on the time of the GPU is measured
const FRAME = 8; // ms of the GPU for a frame of a glide
const MOST_LEFT_OUT = 31; // of so many points one is drawn: WebGL has no longer stride

export class Scatter {
  constructor(canvas, drawn) {
    this.canvas = canvas;
    this.drawn = drawn; // called after every frame, with the share of the glide that is done
    this.n = 0;
    this.zoom = 1;
    this.pan = [0, 0];
    this.box = null; // how far points reach across and up, where the two have the same unit
    this.turn = null; // [about the upright axis, about the level one] where there are three axes
    this.size = 5;
    this.scale = 1; // of the size of points
    this.opacity = 1;
    this.done = 1;
    this.frame = 0;
    this.cost = Infinity; // ms of the GPU for all points, and the number of measurements
    this.tries = 0;
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => { this.begin(); this.upload(); });
    this.begin();
  }

  begin() {
    const gl = this.canvas.getContext("webgl", { antialias: false, premultipliedAlpha: true });
    this.gl = gl;
    if (!gl) {
      this.pen = this.canvas.getContext("2d");
      return;
    }
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.uniform = Object.fromEntries(["done", "across", "up", "near", "stretch",
      "shift", "size", "opacity"].map(
      (name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = {};
    this.attributes = [
      ["from", 3, gl.FLOAT, false, 12], ["to", 3, gl.FLOAT, false, 12],
      ["look", 4, gl.UNSIGNED_BYTE, true, 4], ["shape", 1, gl.UNSIGNED_BYTE, false, 1],
    ].map(([name, ...kind]) => {
      this.buffers[name] = gl.createBuffer();
      const place = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(place);
      return [name, place, ...kind];
    });
    this.every(1);
  }

  // Draw every n-th point only.
  every(step) {
    const { gl } = this;
    this.step = step;
    for (const [name, place, width, type, scaled, bytes] of this.attributes) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.vertexAttribPointer(place, width, type, scaled, step * bytes, 0);
    }
  }

  // The number of points for each that is drawn in a glide. A slow GPU (or its emulation on the CPU)
  // draws a part of them, so that frames do not take the time of the fits.
  coarse() {
    if (this.n < MANY || this.cost === Infinity) return 1;
    return Math.min(MOST_LEFT_OUT, Math.ceil(this.cost / FRAME));
  }

  put(name, array) {
    if (!this.gl) return;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers[name]);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, array, this.gl.DYNAMIC_DRAW);
  }

  upload() {
    if (!this.to) return;
    this.put("from", this.from);
    this.put("to", this.to);
    if (this.look) { this.put("look", this.look); this.put("shape", this.shape); }
    this.draw();
  }

  // Where across, up and towards the reader are, as vectors of the three axes.
  directions() {
    if (!this.turn) return [[1, 0, 0], [0, 1, 0], [0, 0, 0]];
    const [[c, s], [d, t]] = this.turn.map((angle) => [Math.cos(angle), Math.sin(angle)]);
    return [[c, 0, s], [t * s, d, -t * c], [-d * s, t, d * c]];
  }

  // (2 n) where the points rest, as they are seen.
  get flat() {
    const about = `${this.turn}`;
    if (this.flatOf !== this.to || this.flatTurn !== about) {
      const [a, b] = this.directions();
      this.flatPlaces = new Float32Array(2 * this.n);
      for (let i = 0; i < this.n; i++) {
        const [x, y, z] = [this.to[3 * i], this.to[3 * i + 1], this.to[3 * i + 2]];
        this.flatPlaces[2 * i] = a[0] * x + a[1] * y + a[2] * z;
        this.flatPlaces[2 * i + 1] = b[0] * x + b[1] * y + b[2] * z;
      }
      [this.flatOf, this.flatTurn] = [this.to, about];
    }
    return this.flatPlaces;
  }

  // Where a point is seen right now, in the middle of a glide too.
  now(i) {
    const t = this.eased();
    const at = [0, 1, 2].map((j) => (
      this.from[3 * i + j] + (this.to[3 * i + j] - this.from[3 * i + j]) * t));
    return this.directions().slice(0, 2).map((v) => v[0] * at[0] + v[1] * at[1] + v[2] * at[2]);
  }

  eased() { return this.done >= 1 ? 1 : ease(this.done); }

  // (3 n) numbers from -1 to 1; the points glide there from wherever they are.
  move(places, glide) {
    const same = this.to && this.to.length === places.length;
    if (same && glide) {
      const t = this.eased();
      for (let i = 0; i < places.length; i++) {
        this.from[i] += (this.to[i] - this.from[i]) * t;
      }
    } else {
      this.from = places.slice();
    }
    this.to = places;
    if (this.n !== places.length / 3) [this.cost, this.tries] = [Infinity, 0];
    this.n = places.length / 3;
    this.put("from", this.from);
    this.put("to", this.to);
    this.done = same && glide ? 0 : 1;
    this.start = performance.now();
    this.draw();
  }

  // (4 n) bytes of colour, (n) bytes of shape.
  paint(look, shape, size) {
    if (this.look === look) { this.draw(); return; }
    this.look = look;
    this.shape = shape;
    this.size = size;
    this.put("look", look);
    this.put("shape", shape);
    this.draw();
  }

  draw() {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.render());
  }

  resize() {
    this.sized = true;
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    const [width, height] = [Math.max(1, clientWidth * ratio), Math.max(1, clientHeight * ratio)];
    if (this.canvas.width !== Math.round(width) || this.canvas.height !== Math.round(height)) {
      this.canvas.width = Math.round(width);
      this.canvas.height = Math.round(height);
    }
  }

  stretch() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (!this.box) return [this.zoom, this.zoom];
    const scale = this.zoom * Math.min(w / this.box[0], h / this.box[1]);
    return [scale / w, scale / h];
  }

  // From places to CSS pixels of the canvas, and back.
  toScreen([x, y]) {
    const [sx, sy] = this.stretch();
    const { clientWidth: w, clientHeight: h } = this.canvas;
    return [(x * sx + this.pan[0] + 1) * w / 2, (1 - y * sy - this.pan[1]) * h / 2];
  }

  toPlace([x, y]) {
    const [sx, sy] = this.stretch();
    const { clientWidth: w, clientHeight: h } = this.canvas;
    return [(2 * x / w - 1 - this.pan[0]) / sx, (1 - 2 * y / h - this.pan[1]) / sy];
  }

  // Zoom by a factor about a point of the screen, which stays where it is.
  zoomAt(factor, [x, y]) {
    const before = this.toPlace([x, y]);
    this.zoom = Math.min(500, Math.max(0.2, this.zoom * factor));
    const after = this.toPlace([x, y]);
    const [sx, sy] = this.stretch();
    this.pan[0] += (after[0] - before[0]) * sx;
    this.pan[1] += (after[1] - before[1]) * sy;
    this.draw();
  }

  panBy(dx, dy) {
    this.pan[0] += 2 * dx / this.canvas.clientWidth;
    this.pan[1] -= 2 * dy / this.canvas.clientHeight;
    this.draw();
  }

  // In space: dragging turns what is seen.
  turnBy(dx, dy) {
    const [a, b] = this.turn;
    this.turn = [a + dx / 150, Math.max(-1.57, Math.min(1.57, b + dy / 150))];
    this.draw();
  }

  home() {
    this.zoom = 1;
    if (this.turn) this.turn = [...ASLANT];
    this.pan = [0, 0];
    this.draw();
  }

  render() {
    this.frame = 0;
    if (!this.to || !this.look || !this.canvas.clientWidth) return;
    if (this.done < 1) this.done = Math.min(1, (performance.now() - this.start) / GLIDE);
    // A new buffer may take long: while points glide the old one is stretched.
    if (this.done >= 1 || !this.sized) this.resize();
    if (!this.gl) this.renderPen();
    else if (this.done < 1 || this.tries >= 3 || this.n < MANY) this.renderCard();
    else this.measure();
    this.drawn(this.done);
    if (this.done >= 1) return;
    // Who needs to leave points out needs to breathe as well.
    if (this.coarse() > 1) setTimeout(() => this.draw(), 2 * this.cost);
    else this.draw();
  }

  renderCard() {
    const { gl, uniform } = this;
    const step = this.done < 1 ? this.coarse() : 1;
    if (step !== this.step) this.every(step);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform1f(uniform.done, this.eased());
    const [across, up, near] = this.directions();
    gl.uniform3fv(uniform.across, across);
    gl.uniform3fv(uniform.up, up);
    gl.uniform3fv(uniform.near, near);
    gl.uniform1f(uniform.opacity, this.opacity);
    gl.uniform2f(uniform.stretch, ...this.stretch());
    gl.uniform2f(uniform.shift, ...this.pan);
    gl.uniform1f(uniform.size, this.size * this.scale * (window.devicePixelRatio || 1));
    gl.drawArrays(gl.POINTS, 0, Math.ceil(this.n / step));
  }

  // Time a frame at rest. Reading a pixel waits until all is drawn.
  measure() {
    const { gl } = this;
    const read = () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    read();
    const began = performance.now();
    this.renderCard();
    read();
    this.cost = Math.min(this.cost, performance.now() - began);
    this.tries++;
  }

  // Without WebGL: squares, and almost no glide for many points.
  renderPen() {
    const { pen, canvas, look } = this;
    const ratio = canvas.width / canvas.clientWidth;
    const side = Math.max(1.5, this.size * this.scale * 0.8) * ratio;
    pen.clearRect(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < this.n; i++) {
      const alpha = look[4 * i + 3];
      if (!alpha) continue;
      const [x, y] = this.toScreen(this.now(i));
      pen.fillStyle = `rgba(${look[4 * i]},${look[4 * i + 1]},${look[4 * i + 2]},${Math.min(1, this.opacity * alpha / 255)})`;
      pen.fillRect(x * ratio - side / 2, y * ratio - side / 2, side, side);
    }
  }
}

// Buckets of a grid over the places, for the point nearest to the pointer.
export class Near {
  constructor(places, side = 96) {
    const n = places.length / 2;
    this.places = places;
    this.side = side;
    const cells = new Uint32Array(n);
    const starts = new Uint32Array(side * side + 1);
    for (let i = 0; i < n; i++) {
      cells[i] = this.cell(places[2 * i]) + side * this.cell(places[2 * i + 1]);
      starts[cells[i] + 1]++;
    }
    for (let c = 0; c < side * side; c++) starts[c + 1] += starts[c];
    const next = starts.slice();
    this.rows = new Uint32Array(n);
    for (let i = 0; i < n; i++) this.rows[next[cells[i]]++] = i;
    this.starts = starts;
  }

  // Those outside the frame are in the outermost cells.
  cell(value) {
    return Math.max(0, Math.min(this.side - 1, Math.floor((value + 1) / 2 * this.side)));
  }

  // The nearest row that is wanted within (rx, ry) of (x, y), or -1.
  find(x, y, rx, ry, wanted) {
    let [best, least] = [-1, 1];
    for (let cy = this.cell(y - ry); cy <= this.cell(y + ry); cy++) {
      for (let cx = this.cell(x - rx); cx <= this.cell(x + rx); cx++) {
        const c = cx + this.side * cy;
        for (let at = this.starts[c]; at < this.starts[c + 1]; at++) {
          const i = this.rows[at];
          const apart = ((this.places[2 * i] - x) / rx) ** 2
            + ((this.places[2 * i + 1] - y) / ry) ** 2;
          if (apart < least && wanted(i)) [best, least] = [i, apart];
        }
      }
    }
    return best;
  }
}
