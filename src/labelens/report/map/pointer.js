// Pointers and fingers on a plot.
//
// One finger scrolls the page, and a tap picks a point; two fingers zoom and move the plot.

// A touch of the screen is wider than a pointer.
const reach = (event) => (event.pointerType === "touch" ? 26 : 14);

export function watch(pane) {
  const { canvas, app, scatter } = pane;
  let down = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.isPrimary) return;
    const touch = event.pointerType === "touch";
    down = { from: pane.at(event), last: pane.at(event), moved: false, touch };
    const lasso = app.drag === "lasso" || event.shiftKey;
    if (!touch || lasso) canvas.setPointerCapture(event.pointerId);
    pane.path = lasso ? [down.from] : null;
  });
  canvas.addEventListener("pointermove", (event) => {
    const here = pane.at(event);
    if (!down) {
      app.hover(pane, pane.nearest(here, reach(event)), event);
      return;
    }
    const [dx, dy] = [here[0] - down.last[0], here[1] - down.last[1]];
    if (Math.hypot(here[0] - down.from[0], here[1] - down.from[1]) > 4) down.moved = true;
    if (!down.moved) return;
    down.last = here;
    if (pane.path) { pane.path.push(here); scatter.draw(); }
    else if (!down.touch) pane.dragBy(dx, dy);
  });
  const end = (event) => {
    if (!down || !event.isPrimary) return;
    const { moved, touch } = down;
    down = null;
    const { path } = pane;
    pane.path = null;
    scatter.draw();
    if (event.type === "pointercancel") return;
    if (!moved) {
      const i = pane.nearest(pane.at(event), reach(event));
      if (i >= 0) app.pick(i);
      else app.select(null);
    } else if (path) app.select(pane.within(path));
    else if (!touch) pane.moved();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => { if (!down) app.hover(pane, -1); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    scatter.zoomAt(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), pane.at(event));
    pane.moved();
  }, { passive: false });
  canvas.addEventListener("dblclick", () => pane.home());

  // Two fingers: where their middle is, and how far apart they are.
  let pinch = null;
  const both = ({ touches: [a, b] }) => {
    const [p, q] = [pane.at(a), pane.at(b)];
    return { middle: [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2],
      apart: Math.max(1, Math.hypot(p[0] - q[0], p[1] - q[1])) };
  };
  canvas.addEventListener("touchstart", (event) => {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    pinch = both(event);
    down = null;
    pane.path = null;
  }, { passive: false });
  canvas.addEventListener("touchmove", (event) => {
    if (!pinch || event.touches.length !== 2) return;
    event.preventDefault();
    const now = both(event);
    scatter.zoomAt(now.apart / pinch.apart, now.middle);
    pane.dragBy(now.middle[0] - pinch.middle[0], now.middle[1] - pinch.middle[1]);
    pinch = now;
  }, { passive: false });
  for (const kind of ["touchend", "touchcancel"]) {
    canvas.addEventListener(kind, () => {
      if (pinch) pane.moved();
      pinch = null;
    });
  }
}
