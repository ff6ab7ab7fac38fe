import "./shared/style.css";
import "./ga-app.js";
