import { ChatPage, type Boot } from "./chat_page";
import "./styles/chat.css";
import "./styles/code.css";

const boot = document.getElementById("boot")?.textContent;
if (boot) new ChatPage(JSON.parse(boot) as Boot).start();
