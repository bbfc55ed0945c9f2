// Disable the buttons while a request is running. (A second request would have no effect on the server.)
for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", () => {
    setTimeout(() => {
      for (const button of form.querySelectorAll("button")) {
        button.disabled = true;
        button.setAttribute("aria-busy", "true");
      }
    });
  });
}
// The back button restores the page with its disabled buttons, so load it again.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
