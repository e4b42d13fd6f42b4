#!/usr/bin/env python3
"""Makes docs/images/capture.svg: commands on the sample history, one after the other, as a moving picture.

    docs/images/capture.py PATH_OF_RAMUS

Everything is what ramus prints. The picture is text in SVG, animated by CSS, and loads nothing.
"""
import html
import os
import pathlib
import re
import subprocess
import sys
import tempfile

COLUMNS, LINES = 100, 26
SCENES = [
    ("ramus ls", 4),
    ("ramus tree 7ea9", 8),
    ("ramus find 'thread pool' --branch abandoned", 6),
    ("ramus diff 7ea9@3 7ea9@5 --stat", 6),
    ("ramus goto 7ea9@3 --dry-run", 6),
]
# The colours of the dark picture, by the number of the terminal's own.
BASE = ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"]
BRIGHT = ["#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc"]
WIDTH, HEIGHT, MARGIN = 8.4, 18, 16


def style(codes, now):
    """Returns the style after some codes of a terminal."""
    now = dict(now)
    for code in [int(code or 0) for code in codes.split(";")]:
        if code == 0:
            now = {}
        elif code == 1:
            now["font-weight"] = "bold"
        elif code == 2:
            now["opacity"] = ".6"
        elif code == 3:
            now["font-style"] = "italic"
        elif 30 <= code <= 37:
            now["fill"] = BASE[code - 30]
        elif 90 <= code <= 97:
            now["fill"] = BRIGHT[code - 90]
    return now


def spans(line):
    """Returns the parts of a line, each with the column it begins in."""
    now, column, out = {}, 0, []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if code:
            now = style(code.group(1), now)
        elif part:
            if part.strip():
                css = ";".join(f"{key}:{value}" for key, value in now.items())
                attribute = f' style="{css}"' if css else ""
                lead = len(part) - len(part.lstrip(" "))
                # The length keeps columns where they belong, whatever font there is.
                shown = part.strip(" ")
                out.append(f'<tspan x="{MARGIN + (column + lead) * WIDTH:.1f}" textLength="{len(shown) * WIDTH:.1f}"'
                           f'{attribute}>{html.escape(shown)}</tspan>')
            column += len(part)
    return "".join(out)


def main():
    ramus = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        env = {"HOME": scratch, "PATH": f"{ramus.parent}:/usr/bin:/bin", "TZ": "UTC", "COLUMNS": str(COLUMNS),
               "CLAUDE_CONFIG_DIR": f"{scratch}/demo", "TERM": "xterm"}
        run = lambda line: subprocess.run(["sh", "-c", line], env=env, cwd=scratch, capture_output=True, text=True)
        assert run("ramus demo demo").returncode == 0
        run("find demo -type f -exec touch -d 2026-01-01 {} +")
        total = sum(seconds for _, seconds in SCENES)
        begin, css, groups = 0, [], []
        for number, (command, seconds) in enumerate(SCENES):
            done = run(command.replace("ramus ", "ramus --color always ", 1))
            assert done.returncode == 0, (command, done.stderr)
            lines = done.stdout.splitlines()
            if len(lines) > LINES - 2:
                lines = lines[: LINES - 3] + ["\x1b[2m…"]
            start, end = 100 * begin / total, 100 * (begin + seconds) / total
            css.append(f"@keyframes s{number}{{0%,{max(start - 0.01, 0):.2f}%{{opacity:{int(number == 0)}}}"
                       f"{start:.2f}%,{end - 0.01:.2f}%{{opacity:1}}{end:.2f}%,100%{{opacity:0}}}}"
                       f"#s{number}{{animation:s{number} {total}s infinite;opacity:{int(number == 0)}}}")
            rows = [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m", ""] + lines
            text = "".join(f'<text y="{MARGIN + 26 + HEIGHT * (row + 1)}">{spans(line)}</text>'
                           for row, line in enumerate(rows) if line.strip())
            groups.append(f'<g id="s{number}">{text}</g>')
            begin += seconds
    width, height = COLUMNS * WIDTH + 2 * MARGIN, LINES * HEIGHT + 2 * MARGIN + 32
    dots = "".join(f'<circle cx="{22 + 18 * n}" cy="18" r="6" fill="{fill}"/>' for n, fill in enumerate(
        ["#ff5f56", "#ffbd2e", "#27c93f"]))
    svg = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">'
           f'<title>ramus on its sample history</title><style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'
           f'"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}}{"".join(css)}</style>'
           f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>{dots}{"".join(groups)}</svg>\n')
    out = pathlib.Path(__file__).with_name("capture.svg")
    out.write_text(svg)
    print(f"{out.name}: {len(svg.encode())} bytes, {total} s")


main()
