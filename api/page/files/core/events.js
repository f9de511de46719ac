/** Server-sent events, read from a response: `EventSource` tells neither statuses nor problems. */

/**
 * Yields the events of a stream. Their data is parsed as JSON.
 *
 * @param {ReadableStream<Uint8Array>} stream
 * @returns {AsyncGenerator<{kind: string, data: any, id: string}>}
 */
export async function* readEvents(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop();
      for (const block of blocks) {
        const event = parse(block);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parse(block) {
  const event = { kind: "message", id: "", data: [] };
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (name === "event") event.kind = value;
    else if (name === "id") event.id = value;
    else if (name === "data") event.data.push(value);
  }
  return event.data.length ? { ...event, data: JSON.parse(event.data.join("\n")) } : null; // a comment is a ping
}
