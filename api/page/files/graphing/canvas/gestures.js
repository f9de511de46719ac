/** Pointers and the wheel: drag a node or the drawing, pinch, click. */

const STILL = 5; // pixels that a click may move
const MOST_ZOOM = 1.4; // of one event of the wheel

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{nodeAt: (x: number, y: number) => any, camera: any, hold: (node: any, place: any) => void, release: (node: any) => void,
 *   click: (node: any) => void, hover: (node: any) => void, moved: () => void}} scene `moved`: the reader moved the camera.
 * @returns {() => void} Ends it.
 */
export function followPointers(canvas, scene) {
  const pointers = new Map();
  let dragged = null;
  let began = null;
  let isDrag = false;
  const place = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };

  const down = (event) => {
    if (event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    const at = place(event);
    pointers.set(event.pointerId, at);
    if (pointers.size > 1) return letGo();
    began = at;
    isDrag = false;
    dragged = scene.nodeAt(at.x, at.y);
  };

  const move = (event) => {
    const at = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) return event.pointerType === "mouse" && scene.hover(scene.nodeAt(at.x, at.y));
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) return pinch(event.pointerId, before, at);
    if (pointers.size > 2 || !began) return;
    isDrag ||= Math.hypot(at.x - began.x, at.y - began.y) > STILL;
    if (!isDrag) return;
    if (dragged) return scene.hold(dragged, scene.camera.toPlace(at.x, at.y));
    scene.camera.pan(at.x - before.x, at.y - before.y);
    scene.moved();
  };

  const pinch = (id, before, at) => {
    const [other] = [...pointers].filter(([one]) => one !== id).map(([, one]) => one);
    const factor = Math.hypot(at.x - other.x, at.y - other.y) / (Math.hypot(before.x - other.x, before.y - other.y) || 1);
    scene.camera.zoom(factor, (at.x + other.x) / 2, (at.y + other.y) / 2);
    scene.camera.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
    scene.moved();
  };

  const up = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && began && !isDrag) scene.click(dragged);
    letGo();
  };

  const letGo = () => {
    if (dragged && isDrag) scene.release(dragged);
    [dragged, began, isDrag] = [null, null, false];
  };

  const leave = () => scene.hover(null);

  const wheel = (event) => {
    event.preventDefault();
    const at = place(event);
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const factor = Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0018));
    scene.camera.zoom(Math.min(MOST_ZOOM, Math.max(1 / MOST_ZOOM, factor)), at.x, at.y);
    scene.moved();
  };

  const handlers = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up, pointerleave: leave };
  for (const [name, handler] of Object.entries(handlers)) canvas.addEventListener(name, handler);
  canvas.addEventListener("wheel", wheel, { passive: false });
  return () => {
    for (const [name, handler] of Object.entries(handlers)) canvas.removeEventListener(name, handler);
    canvas.removeEventListener("wheel", wheel);
  };
}
