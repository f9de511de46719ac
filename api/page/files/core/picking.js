/** Files that the reader drops or chooses, with their paths in dropped folders. */

const MOST = 20_000;

/** @typedef {{file: File, key: string, folder: string}} Picked `key` is the path, with the name of the folder first. */

/**
 * Reads what was dropped, with all folders in it. Hidden files and folders are left out.
 *
 * @param {DataTransfer} dropped
 * @returns {Promise<Picked[]>}
 */
export async function readDropped(dropped) {
  const entries = Array.from(dropped.items || [])
    .filter((item) => item.kind === "file")
    .map((item) => item.webkitGetAsEntry?.() || item.getAsFile()); // both are gone after the first pause
  const found = [];
  for (const entry of entries) {
    if (entry) await walk(entry, "", found);
  }
  return inOrder(found);
}

/** @param {FileList} list What a form's field holds. */
export function readChosen(list) {
  const found = Array.from(list).map((file) => pick(file, file.webkitRelativePath || file.name));
  return inOrder(found.filter((one) => !one.key.split("/").some((part) => part.startsWith("."))));
}

/** Browsers give the files of a folder in the order of the disk. */
function inOrder(picked) {
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  return picked.sort((one, other) => compare(one.key, other.key));
}

async function walk(entry, path, found) {
  if (found.length >= MOST) throw new Error(`There are more than ${MOST} files. Add a part of the folder, or use the command hopweave ingest.`);
  if (entry instanceof File) {
    found.push(pick(entry, entry.name));
    return;
  }
  if (path && entry.name.startsWith(".")) return;
  const here = path ? `${path}/${entry.name}` : entry.name;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.push(pick(file, here));
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // at most a hundred
    if (!some.length) return;
    for (const one of some) await walk(one, here, found);
  }
}

function pick(file, key) {
  return { file, key, folder: key.includes("/") ? key.split("/")[0] : "" };
}

/** Tells files apart whose suffix a loader reads, and others. The server decides on files without a suffix, which it
 * reads if they are text; without `suffixes`, on all. */
export function sortBySuffix(picked, suffixes) {
  const known = [];
  const unknown = [];
  for (const one of picked) {
    const suffix = /\.(?!v?\d+$)[^./]+$/.exec(one.key.toLowerCase())?.[0] || ""; // none in GPL-2.0 and notes.v2
    (!suffixes.length || !suffix || suffixes.includes(suffix) ? known : unknown).push(one);
  }
  return { known, unknown };
}
