// The first script of the page.
document.body.textContent = "Hopweave";
