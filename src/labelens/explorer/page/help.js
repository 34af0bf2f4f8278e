// One sentence for every control: on hover, on focus, and on a tap of its question mark.

import { find, make } from "./dom.js";

const HELP = {
  data: "The data set to look at.",
  label: "The column of labels that the method looks for and the score is measured by.",
  method: "SPCA finds directions that depend on the labels, SRP does it with random vectors, kernel "
    + "methods find curved ones, and PCA ignores the labels.",
  kernel: "The similarity of two rows; a Gaussian is a good start.",
  gamma: "How fast similarity falls with distance: large values see detail, small ones the outline.",
  features: "How many random features stand for the kernel: more are closer to it, and slower.",
  components: "How many directions the fit has; the plot shows two of them.",
  target: "1 looks at labels alone, 0 at variance alone, and between them at both.",
  shrinkage: "Below 1, directions of small variance count as much as others, as in LDA; near 0 it may "
    + "overfit.",
  "label-shrinkage": "Below 1, rare classes and repeated labels count as much as others.",
  scale: "What is done to every column before the fit.",
  seed: "The random numbers of SRP and of random features; a result that depends on it is not stable.",
  map: "Components are the directions themselves. An atlas has a disc for every class, and in it the "
    + "main directions of the class; a wheel has the classes on a circle.",
  detail: "The size of what is drawn within each class: 0 puts its rows on one point, 1 fills its disc.",
  temperature: "Low values move rows to the disc of their most probable class, high ones between "
    + "discs; 0 is chosen by held-out rows.",
  colour: "The column that gives the points their colours; it does not change the fit.",
};

const tip = make("p", { class: "help-tip", role: "tooltip", id: "help-tip", hidden: true });
let shownFor = null;

function show(button, sentence) {
  shownFor = button;
  tip.textContent = sentence;
  tip.hidden = false;
  const box = button.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  tip.style.left = `${Math.max(6, Math.min(box.left, clientWidth - width - 6))}px`;
  const below = box.bottom + 6 + height < clientHeight;
  tip.style.top = `${below ? box.bottom + 6 : Math.max(4, box.top - height - 6)}px`;
}

function hide() {
  tip.hidden = true;
  shownFor = null;
}

export function addHelp() {
  document.body.append(tip);
  for (const [id, sentence] of Object.entries(HELP)) {
    const control = find(id);
    const label = document.querySelector(`label[for="${id}"]`) || control.closest("label");
    const button = make("button", { type: "button", class: "help", "aria-label":
      `Help: ${label.firstChild.textContent.trim() || label.textContent.trim()}. ${sentence}` }, "?");
    // Beside the label, not in it: its text is the name of the control.
    if (label.contains(control)) label.after(button);
    else {
      const both = make("span", { class: "labelled" });
      label.replaceWith(both);
      both.append(label, " ", button);
    }
    if (!control.hasAttribute("aria-describedby")) {
      control.setAttribute("aria-description", sentence);
    }
    button.addEventListener("pointerenter", () => show(button, sentence));
    button.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") hide();
    });
    button.addEventListener("focus", () => show(button, sentence));
    button.addEventListener("blur", hide);
    button.addEventListener("click", (event) => {
      event.preventDefault();
      if (shownFor !== button || tip.hidden) show(button, sentence);
    });
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("scroll", hide, { capture: true, passive: true });
}
