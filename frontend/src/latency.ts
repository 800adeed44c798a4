import { startDashboard } from "./latency/dashboard";
import "./styles/latency.css";
import "./latency/dashboard.css";

const report = document.getElementById("report")?.textContent;
if (report) startDashboard(JSON.parse(report));
