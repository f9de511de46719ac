// Blocks of code that are wider than the page can be scrolled by keyboard.
addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll(".highlight pre")) block.tabIndex = 0;
});
