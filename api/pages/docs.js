// The script of /docs: it sends the calls that the page describes, with the key that was given to "Authorize". The key
// is kept in this page's memory only, so it is gone when the page is left.
"use strict";

let key = "";
const MAX_SHOWN = 200000;

document.getElementById("authorize").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = event.target.elements.key;
  key = field.value.trim();
  field.value = "";
  document.getElementById("state").textContent = key ? "The key is sent with each call." : "No key is sent; a session of the web page is used.";
});

function address(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll("input[data-in]")) {
    if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.dataset.in === "query" && field.value !== "") query.append(field.name, field.value);
  }
  return query.size ? `${path}?${query}` : path;
}

function options(form) {
  const headers = {};
  if (key) headers.Authorization = `Bearer ${key}`;
  for (const field of form.querySelectorAll('input[data-in="header"]')) {
    if (field.value !== "") headers[field.name] = field.value;
  }
  const body = form.querySelector("textarea");
  if (!body || body.value.trim() === "") return { method: form.dataset.method, headers };
  headers["Content-Type"] = "application/json";
  return { method: form.dataset.method, headers, body: body.value };
}

async function send(form) {
  const shown = form.querySelector("output pre");
  shown.textContent = "…";
  try {
    const response = await fetch(address(form), options(form));
    shown.textContent = `${response.status} ${response.statusText}\n\n`;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (shown.textContent.length < MAX_SHOWN) shown.textContent += part.value;
    }
  } catch (error) {
    shown.textContent = String(error);
  }
}

for (const form of document.querySelectorAll("form[data-path]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}
