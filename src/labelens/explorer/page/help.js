// Help for each control, shown on hover, on focus, and on a tap of its question mark.

import { find, make } from "./dom.js";

const HELP = {
  data: "The data set that the page shows.",
  label: "The column of labels for the fit and for the score.",
  method: "SPCA finds directions that depend on the labels. SRP approximates them with random "
    + "vectors. Kernel methods are nonlinear. PCA ignores the labels.",
  kernel: "The similarity of two rows. Start with rbf, the Gaussian kernel.",
  gamma: "How fast the similarity falls with the distance: large values fit details, small values the large structure.",
  features: "The number of random features that approximate the kernel. More are more accurate and slower.",
  components: "The number of components of the fit. The plot shows two or three of them.",
  target: "1: dependence on the labels only. 0: variance only. In between: a mixture.",
  shrinkage: "Below 1, directions of small variance get more weight, as in LDA. Values near 0 can "
    + "overfit.",
  "label-shrinkage": "Below 1, rare classes and correlated labels get more weight.",
  scale: "The scaling of each column before the fit.",
  seed: "The seed of SRP and of random features. A result that depends on the seed is not stable.",
  map: "Components are the embedding itself. An atlas has a disc for each class, which shows the "
    + "variation within the class. A wheel has the classes on a circle.",
  detail: "The size of each class: 0 puts its rows on one point, 1 fills its disc.",
  temperature: "Low values move rows to the disc of their most probable class, high values between "
    + "discs. 0: chosen by held-out rows.",
  colour: "The column that colours the points. It does not change the fit.",
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
    // Next to the label, because the text of the label is the name of the control.
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
