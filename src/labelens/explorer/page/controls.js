// The settings of the active pane.

import { find, short } from "./dom.js";

const KERNELISED = new Set(["kspca", "ksrp"]);
const KERNEL_NAMES = { rbf: "Gaussian", laplacian: "Laplacian", matern: "Matérn" };

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
// The box of each number of a view, with the limits of the server.
const BOXES = {
  features: "features", components: "components", target_weight: "target", shrinkage: "shrinkage",
  label_shrinkage: "label-shrinkage", seed: "seed", detail: "detail", temperature: "temperature",
};
const WHOLE = new Set(["features", "components", "seed"]);
const LISTS = ["method", "kernel", "scale", "map"];
// The other methods use no random numbers.
const seeded = (view) => ["srp", "ksrp"].includes(view.method)
  || (view.method === "kspca" && view.kernel !== "linear");
const COLDEST = -2; // on the logarithmic slider: the temperature is chosen by held-out rows
const precise = (value) => Number(value.toPrecision(6));
// 0 at the left, then 10^-4 to 1 on a logarithmic scale.
const fromShrinkage = (p) => (p === 0 ? 0 : precise(10 ** (4 * (p - 1) / 99 - 4)));
const toShrinkage = (s) => (
  s <= 0 ? 0 : Math.round(clamp(99 * (Math.log10(s) + 4) / 4 + 1, 1, 100)));

export class Controls {
  constructor(app) {
    this.app = app;
    const send = (changes) => app.active.change(this.tidy({ ...this.view, ...changes }));
    const on = (id, kind, act) => find(id).addEventListener(kind, act);
    // A number box and a slider for the same value; the box accepts values beyond the slider.
    const pair = (id, name, fromSlide, read = Number) => {
      on(`${id}-slide`, "input", () => {
        const value = fromSlide(Number(find(`${id}-slide`).value));
        if (value === null) return;
        send({ [name]: value });
        this.show(`${id}-slide`);
      });
      on(id, "change", () => {
        const value = read(Number(find(id).value));
        if (find(id).value === "" || !Number.isFinite(value)) this.show();
        else { send({ [name]: value }); this.show(); }
      });
    };
    pair("gamma", "gamma", (p) => precise(10 ** p), (value) => value / this.scaleGamma());
    pair("features", "features", (p) => 2 ** p);
    pair("components", "components", (p) => p);
    pair("target", "target_weight", (p) => p);
    pair("shrinkage", "shrinkage", fromShrinkage);
    pair("label-shrinkage", "label_shrinkage", (p) => p);
    pair("detail", "detail", (p) => p);
    pair("temperature", "temperature", (p) => (p <= COLDEST ? 0 : precise(10 ** p)));
    for (const id of LISTS) {
      on(id, "change", () => { send({ [id]: find(id).value }); this.show(); });
    }
    on("label", "change", () => {
      send({ label: Number(find("label").value) });
      this.show();
      app.colourBy(Number(find("label").value)).then(() => app.remember());
    });
    on("seed", "change", () => {
      if (find("seed").value !== "") send({ seed: Number(find("seed").value) });
      this.show();
    });
    on("reseed", "click", () => {
      send({ seed: this.view.seed < Number(find("seed").max) ? this.view.seed + 1 : 0 });
      this.show();
    });
    find("controls").addEventListener("submit", (event) => event.preventDefault());
  }

  get view() { return this.app.active.view; }

  // All values within their limits, from any source: the server rejects other views, and each view
  // starts from the one before.
  tidy(view) {
    const { overview } = this.app;
    for (const [name, id] of Object.entries(BOXES)) {
      const { min, max } = find(id);
      const value = Number.isFinite(view[name]) ? view[name] : overview.view[name];
      view[name] = clamp(WHOLE.has(name) ? Math.round(value) : value, Number(min), Number(max));
    }
    for (const id of LISTS) {
      const known = [...find(id).options].some((option) => option.value === view[id]);
      if (!known) view[id] = overview.view[id];
    }
    if (!(view.gamma > 0 && Number.isFinite(view.gamma))) view.gamma = overview.view.gamma;
    view.label = clamp(Math.round(view.label) || 0, 0, overview.labels.length - 1);
    if (overview.labels[view.label].noMap[view.map]) view.map = "components";
    return view;
  }

  scaleGamma() {
    const { picture } = this.app.active;
    return (picture && picture.scaleGamma) || 1;
  }

  // After a data set was opened.
  offer(overview) {
    find("label").replaceChildren(...overview.labels.map(({ name, classes }, j) => new Option(
      `${name} (${classes === null ? "numbers" : `${classes} classes`})`, j)));
    find("label-field").hidden = overview.labels.length < 2;
    find("kernel").replaceChildren(
      ...overview.kernels.map((name) => new Option(KERNEL_NAMES[name] || name, name)));
    find("components").max = overview.mostComponents;
    find("components-slide").max = Math.min(20, overview.mostComponents);
  }

  // Show all settings, but do not touch a slider that is being moved.
  show(moving = "") {
    const { view } = this;
    const put = (id, value) => { if (id !== moving) find(id).value = value; };
    const kernelised = KERNELISED.has(view.method);
    for (const id of ["label", ...LISTS, "seed", "features", "components", "detail", "temperature"]) {
      put(id, view[id]);
    }
    put("detail-slide", view.detail);
    put("temperature-slide", view.temperature ? Math.log10(view.temperature) : COLDEST);
    put("target", view.target_weight);
    put("target-slide", view.target_weight);
    put("shrinkage", view.shrinkage);
    put("shrinkage-slide", toShrinkage(view.shrinkage));
    put("label-shrinkage", view.label_shrinkage);
    put("label-shrinkage-slide", view.label_shrinkage);
    put("components-slide", view.components);
    put("features-slide", Math.log2(view.features));
    put("gamma-slide", Math.log10(view.gamma));
    put("gamma", short(view.gamma * this.scaleGamma()));
    find("gamma-says").textContent = `${short(view.gamma)} × scale`;
    const { picture } = this.app.active;
    const used = picture && picture.view.map === "atlas" ? `: ${short(picture.temperature)}` : "";
    find("temperature-says").textContent = view.temperature ? "" : `chosen by held-out rows${used}`;
    find("atlas-fields").hidden = view.map !== "atlas";
    find("kernel-fields").hidden = !kernelised;
    const narrow = view.kernel === "linear";
    for (const id of ["gamma", "gamma-slide", "features", "features-slide"]) {
      find(id).disabled = narrow;
    }
    for (const id of ["target", "target-slide", "label-shrinkage", "label-shrinkage-slide"]) {
      find(id).disabled = view.method === "pca";
    }
    for (const id of ["components", "components-slide"]) find(id).disabled = view.map !== "components";
    for (const id of ["seed", "reseed"]) find(id).disabled = !seeded(view);
    const { noMap } = this.app.overview.labels[view.label];
    for (const option of find("map").options) option.disabled = Boolean(noMap[option.value]);
    find("map-says").textContent = noMap.atlas || "";
    for (const [id, text] of [["gamma-slide", `${short(view.gamma * this.scaleGamma())}`],
      ["shrinkage-slide", short(view.shrinkage)], ["features-slide", `${view.features}`]]) {
      find(id).setAttribute("aria-valuetext", text);
    }
  }
}
