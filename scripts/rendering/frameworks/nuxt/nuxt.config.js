export default defineNuxtConfig({
  compatibilityDate: "2025-01-01",
  srcDir: "src",
  ssr: false,
  telemetry: false,
  css: ["~/shared/style.css"],
  app: { head: { title: "Grain Almanac", htmlAttrs: { lang: "en" } } },
});
