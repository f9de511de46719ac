import htm from "htm";
import { h } from "preact";

export { createContext, Fragment, h, render } from "preact";
export { useCallback, useContext, useEffect, useId, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
export const html = htm.bind(h);
