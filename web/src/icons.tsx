/*! Icons: Lucide (https://lucide.dev), ISC License. */
// The icons, included at build time.

import arrowDown from "lucide-static/icons/arrow-down.svg?raw";
import bot from "lucide-static/icons/bot.svg?raw";
import brain from "lucide-static/icons/brain.svg?raw";
import chart from "lucide-static/icons/chart-column.svg?raw";
import chevronLeft from "lucide-static/icons/chevron-left.svg?raw";
import chevronRight from "lucide-static/icons/chevron-right.svg?raw";
import circleQuestion from "lucide-static/icons/circle-question-mark.svg?raw";
import close from "lucide-static/icons/x.svg?raw";
import copy from "lucide-static/icons/copy.svg?raw";
import dots from "lucide-static/icons/ellipsis.svg?raw";
import download from "lucide-static/icons/download.svg?raw";
import edit from "lucide-static/icons/file-pen.svg?raw";
import fetch from "lucide-static/icons/cloud-download.svg?raw";
import fileText from "lucide-static/icons/file-text.svg?raw";
import filePlus from "lucide-static/icons/file-plus.svg?raw";
import glob from "lucide-static/icons/folder-search.svg?raw";
import image from "lucide-static/icons/image.svg?raw";
import imageOff from "lucide-static/icons/image-off.svg?raw";
import info from "lucide-static/icons/info.svg?raw";
import keyboard from "lucide-static/icons/keyboard.svg?raw";
import list from "lucide-static/icons/list.svg?raw";
import listChecks from "lucide-static/icons/list-checks.svg?raw";
import log from "lucide-static/icons/history.svg?raw";
import mail from "lucide-static/icons/mail.svg?raw";
import map from "lucide-static/icons/clipboard-list.svg?raw";
import menu from "lucide-static/icons/menu.svg?raw";
import monitor from "lucide-static/icons/monitor.svg?raw";
import moon from "lucide-static/icons/moon.svg?raw";
import numbers from "lucide-static/icons/hash.svg?raw";
import pin from "lucide-static/icons/pin.svg?raw";
import plug from "lucide-static/icons/plug.svg?raw";
import search from "lucide-static/icons/search.svg?raw";
import sparkles from "lucide-static/icons/sparkles.svg?raw";
import sun from "lucide-static/icons/sun.svg?raw";
import terminal from "lucide-static/icons/terminal.svg?raw";
import text from "lucide-static/icons/text-initial.svg?raw";
import trace from "lucide-static/icons/chart-gantt.svg?raw";
import tree from "lucide-static/icons/git-branch.svg?raw";
import undo from "lucide-static/icons/undo-2.svg?raw";
import wrench from "lucide-static/icons/wrench.svg?raw";
import { markup } from "./html";

const ICONS = {
  arrowDown,
  bot,
  brain,
  chart,
  chevronLeft,
  chevronRight,
  circleQuestion,
  close,
  copy,
  dots,
  download,
  edit,
  fetch,
  fileText,
  filePlus,
  glob,
  image,
  imageOff,
  info,
  keyboard,
  list,
  listChecks,
  log,
  mail,
  map,
  menu,
  monitor,
  moon,
  numbers,
  pin,
  plug,
  search,
  sparkles,
  sun,
  terminal,
  text,
  trace,
  tree,
  undo,
  wrench,
};
export type IconName = keyof typeof ICONS;

/** What is drawn inside the `svg` element of a file. */
const drawing = (file: string) => file.slice(file.indexOf(">", file.indexOf("<svg")) + 1, file.lastIndexOf("</svg>"));

export function Icon({ name }: { name: IconName }) {
  return <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" {...markup(drawing(ICONS[name]))} />;
}
