"""Run after the renames: updates names in comments, doc tests and #[error] attributes.

    python3 RENAMES-docs.py TABLE.tsv... [--write]     (from the root of the tree)

A link, a name in backticks or a name in a doc test is replaced if the table renames a definition of the same file, or if
all rows with that old name in the same crate agree on the new one and no definition with the old name is left.
Prints every replacement as FILE:LINE OLD -> NEW.
"""
import collections, glob, os, re, sys

write = '--write' in sys.argv
tables = [a for a in sys.argv[1:] if a.endswith('.tsv')]
rows = [l.rstrip('\n').split('\t') for t in tables for l in open(t, encoding='utf8') if l.count('\t') == 4]
crate = lambda path: '/'.join(path.split('/')[:2])
moved = {}
for f, k, c, o, n in rows:
    if k == 'mod':
        d, b = os.path.split(f)
        moved[f] = os.path.join(os.path.dirname(d) if b == 'mod.rs' else d, n + '.rs')
# A file may lie in a directory whose module was renamed.
dirs = {f[:-3] if not f.endswith('/mod.rs') else f[:-7]: moved[f][:-3] for f in moved}
def now(f):
    f = moved.get(f, f)
    for old in sorted(dirs, key=len, reverse=True):
        if f.startswith(old + '/'):
            f = dirs[old] + f[len(old):]
    return f
in_file, in_crate, everywhere = {}, collections.defaultdict(set), collections.defaultdict(set)
for f, k, c, o, n in rows:
    if k == 'field': continue
    in_file.setdefault(now(f), {}).setdefault(o, set()).add(n)
    in_crate[crate(f), o].add(n)
    if k in ('struct', 'enum', 'trait', 'mod'): everywhere[o].add(n)
modules = {(crate(f), o): n for f, k, c, o, n in rows if k == 'mod'}
modules.update({('', o): n for (_, o), n in list(modules.items())})
files = [f for f in glob.glob('crates/**/*.rs', recursive=True) if '/target/' not in f]
text = {f: open(f, encoding='utf8').read() for f in files}
defined = collections.defaultdict(set)
for f in files:
    for m in re.finditer(r'\b(?:fn|struct|enum|trait|const|static|mod|type)\s+(\w+)', re.sub(r'//.*', '', text[f])):
        defined[crate(f)].add(m.group(1))
def new_name(f, word):
    own = in_file.get(f, {}).get(word)
    if own and len(own) == 1: return next(iter(own))
    if word in defined[crate(f)]: return None
    here = in_crate.get((crate(f), word))
    if here and len(here) == 1: return next(iter(here))
    far = everywhere.get(word)
    if far and len(far) == 1 and not any(word in d for d in defined.values()): return next(iter(far))
    return None
for f in files:
    out, fence = [], False
    for number, line in enumerate(text[f].split('\n'), 1):
        comment = re.match(r'\s*//', line)
        if comment and '```' in line: fence = not fence
        if not comment: fence = False
        def swap(word):
            new = new_name(f, word.group(0))
            # `follow::follow`: a path segment is a module, the function has the same name.
            if word.string[word.end():word.end() + 2] == '::' and word.group(0)[0].islower():
                new = modules.get((crate(f), word.group(0))) or (modules.get(('', word.group(0))) if '::' in word.string else None)
            if new and new != word.group(0):
                print(f'{f}:{number} {word.group(0)} -> {new}')
                return new
            return word.group(0)
        if comment and fence and '```' not in line:
            # Types anywhere, functions where they are called or imported.
            call = r'\b[A-Z]\w+\b|\b[a-z_]\w+\b' if 'use ' in line else r'\b[A-Z]\w+\b|\b[a-z_]\w+\b(?=\(|::)'
            line = re.sub(call, swap, line)
        elif comment:
            line = re.sub(r'\[`[^`\n]+`\]', lambda m: re.sub(r'\b[A-Za-z_]\w+\b', swap, m.group(0)), line)
            # A plain word in backticks may be a parameter; names with a capital, `_` or `::` are not.
            name = r'(?<![\w-])(?:[A-Z]\w+|\w+_\w+|[a-z]\w*(?=::))\b(?![-/])'
            line = re.sub(r'(?<!\[)`[^`\n]+`(?!\])', lambda m: re.sub(name, swap, m.group(0)), line)
            line = re.sub(r'\]\([\w:()]+\)', lambda m: re.sub(r'\b[A-Za-z_]\w+\b', swap, m.group(0)), line)
        elif '#[error(' in line:
            head, quote, tail = line.rpartition('"')
            line = head + quote + re.sub(r'(?<!\.)\b[a-z_]+(?=\()', swap, tail)
        out.append(line)
    new = '\n'.join(out)
    if write and new != text[f]: open(f, 'w', encoding='utf8').write(new)
