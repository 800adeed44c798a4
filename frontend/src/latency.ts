import { startDashboard } from "./latency/dashboard";
import "./styles/latency.css";

const report = document.getElementById("report")?.textContent;
if (report) startDashboard(JSON.parse(report));
