#!/usr/bin/env python3
"""rename.py ROOT TABLE.tsv... [--dry]: applies renames by rust-analyzer, all computed on one state."""
import json, os, subprocess, sys, threading, queue, time, collections, pathlib, urllib.parse
RA = os.environ.get('RA', 'rust-analyzer')
args = [a for a in sys.argv[1:] if not a.startswith('--')]
dry = '--dry' in sys.argv
root = os.path.realpath(args[0]); tables = args[1:]

class Lsp:
    def __init__(self):
        self.p = subprocess.Popen([RA], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open('/dev/null','w'), cwd=root)
        self.id = 0; self.waiting = {}; self.quiet = threading.Event(); self.lock = threading.Lock()
        threading.Thread(target=self.reader, daemon=True).start()
    def send(self, m):
        b = json.dumps(m).encode()
        with self.lock:
            self.p.stdin.write(b'Content-Length: %d\r\n\r\n' % len(b) + b); self.p.stdin.flush()
    def reader(self):
        f = self.p.stdout
        while True:
            n = 0
            while True:
                l = f.readline()
                if not l: return
                l = l.strip()
                if not l: break
                if l.lower().startswith(b'content-length'): n = int(l.split(b':')[1])
            m = json.loads(f.read(n))
            if 'method' in m:
                if 'id' in m:
                    r = None
                    if m['method'] == 'workspace/configuration': r = [CONFIG for _ in m['params']['items']]
                    self.send({'jsonrpc':'2.0','id':m['id'],'result':r})
                elif m['method'] == 'experimental/serverStatus':
                    if m['params'].get('quiescent'): self.quiet.set()
                    if m['params'].get('message'): print('status', m['params']['message'], file=sys.stderr)
            elif m.get('id') in self.waiting:
                self.waiting.pop(m['id']).put(m)
    def note(self, method, params): self.send({'jsonrpc':'2.0','method':method,'params':params})
    def ask(self, method, params, timeout=600):
        for attempt in range(5):
            self.id += 1; q = queue.Queue(); self.waiting[self.id] = q
            self.send({'jsonrpc':'2.0','id':self.id,'method':method,'params':params})
            m = q.get(timeout=timeout)
            if 'error' in m:
                if m['error']['code'] in (-32801, -32802): time.sleep(.3); continue
                return None, m['error']['message']
            return m.get('result'), None
        return None, 'cancelled'

CONFIG = {
 'cargo': {'buildScripts': {'enable': False}, 'features': 'all', 'targetDir': os.path.join(root, 'target', 'ra'), 'allTargets': True},
 'procMacro': {'enable': False}, 'checkOnSave': False, 'cachePriming': {'enable': True, 'numThreads': 2},
 'lru': {'capacity': 4096}, 'files': {'excludeDirs': ['target','web','node_modules','fuzz'], 'exclude': ['target','web','node_modules']},
 'rename': {'allowExternalItems': False},
}
uri = lambda p: 'file://' + urllib.parse.quote(os.path.join(root, p))
unuri = lambda u: os.path.relpath(urllib.parse.unquote(u[7:]), root)

rows = []
for t in tables:
    for n, line in enumerate(open(t), 1):
        line = line.rstrip('\n')
        if not line.strip() or line.startswith('#') or line.startswith('file\t'): continue
        c = line.split('\t')
        if len(c) < 5: print(f'{t}:{n}: bad row {line!r}'); continue
        rows.append((t, n, *[x.strip() for x in c[:5]]))
print(len(rows), 'rows')
ls = Lsp()
ls.ask('initialize', {'processId': os.getpid(), 'rootUri': 'file://' + root, 'initializationOptions': CONFIG,
  'workspaceFolders': [{'uri': 'file://' + root, 'name': 'r'}],
  'capabilities': {'general': {'positionEncodings': ['utf-8']}, 'experimental': {'serverStatusNotification': True},
    'textDocument': {'documentSymbol': {'hierarchicalDocumentSymbolSupport': True}, 'rename': {'prepareSupport': True}},
    'workspace': {'workspaceEdit': {'documentChanges': True, 'resourceOperations': ['create','rename','delete']}, 'configuration': True},
    'window': {'workDoneProgress': True}}})
ls.note('initialized', {})
t0 = time.time()
ls.quiet.wait(1500); time.sleep(3)
print('ready after %.0f s' % (time.time()-t0), flush=True)

syms = {}
def symbols(f):
    if f not in syms:
        r, e = ls.ask('textDocument/documentSymbol', {'textDocument': {'uri': uri(f)}})
        out = []
        def walk(s, containers):
            for x in s:
                out.append((x['name'], x['kind'], containers, x['selectionRange']['start']))
                walk(x.get('children') or [], containers + [x['name']])
        walk(r or [], [])
        syms[f] = out
    return syms[f]
def container_matches(container, containers):
    import re
    if not container: return not any(True for c in containers if c.startswith('impl') )
    base = lambda s: re.sub(r'<.*', '', s).strip().lstrip('&').split('::')[-1].split(' ')[-1]
    for c in reversed(containers):
        n = c
        if n.startswith('impl'):
            n = re.sub(r'^impl\s*(<[^>]*>)?\s*', '', n)
            if ' for ' in n: n = n.split(' for ')[1]
        if base(n) == base(container): return True
        if c == container: return True
    return False
KINDS = {'fn': (6, 12, 9), 'method': (6,12,9), 'struct': (23,), 'enum': (10,), 'trait': (11,), 'const': (14,13), 'static': (14,13), 'variant': (22,), 'field': (8,), 'type': (26,), 'mod': (2,), 'typeparam': (26,), 'union': (23,), 'macro': (12,)}
edits = collections.defaultdict(dict); moves = []; bad = []; fileops = set()
for t, n, f, kind, container, old, new in rows:
    if not os.path.exists(os.path.join(root, f)):
        bad.append((t,n,f,old,new,'no such file')); continue
    if kind == 'mod':
        if old == new: moves.append((t, n, f, old, new)); continue
        d = os.path.dirname(f)
        if f.endswith('/mod.rs'): d = os.path.dirname(d)
        ps = [p for p in (d + '/lib.rs', d + '/main.rs', d + '.rs', d + '/mod.rs') if os.path.exists(os.path.join(root, p))]
        cands = [(p, s) for p in ps for s in symbols(p) if s[0] == old and s[1] == 2]
        if not cands: bad.append((t,n,f,old,new,'no mod line in %s' % ps)); continue
        p, s = cands[0]
        r, e = ls.ask('textDocument/rename', {'textDocument': {'uri': uri(p)}, 'position': s[3], 'newName': new})
        if e or not r: bad.append((t,n,f,old,new,e or 'no edit')); continue
        for dc in r.get('documentChanges') or []:
            if dc.get('kind') == 'rename': fileops.add((unuri(dc['oldUri']), unuri(dc['newUri']))); continue
            q = unuri(dc['textDocument']['uri'])
            for ed in dc['edits']:
                a, b = ed['range']['start'], ed['range']['end']
                edits[q][(a['line'], a['character'], b['line'], b['character'])] = ed['newText']
        continue
    if old == new: continue
    cands = [s for s in symbols(f) if s[0] == old and s[1] in KINDS.get(kind, ()) and container_matches(container, s[2])]
    if kind == 'fn' and len(cands) > 1:
        trait_less = [s for s in cands if not any(c.startswith('impl') and ' for ' in c for c in s[2])]
        cands = trait_less or cands
    if not cands:
        bad.append((t,n,f,old,new,'not found: %s %s' % (kind, container))); continue
    for name, k, cs, pos in cands:
        r, e = ls.ask('textDocument/rename', {'textDocument': {'uri': uri(f)}, 'position': pos, 'newName': new})
        if e or not r: bad.append((t,n,f,old,new,e or 'no edit')); continue
        count = 0
        for dc in r.get('documentChanges') or []:
            if 'kind' in dc: bad.append((t,n,f,old,new,'file operation')); continue
            p = unuri(dc['textDocument']['uri'])
            for ed in dc['edits']:
                s, en = ed['range']['start'], ed['range']['end']
                key = (s['line'], s['character'], en['line'], en['character'])
                prev = edits[p].get(key)
                if prev is not None and prev != ed['newText'] and key[:2] != key[2:]:
                    bad.append((t,n,f,old,new,'clash in %s:%d with %s' % (p, s['line']+1, prev)))
                edits[p][key] = ed['newText']; count += 1
        if count == 0: bad.append((t,n,f,old,new,'0 edits'))
    if n % 50 == 0: print(t, n, '%.0f s' % (time.time()-t0), flush=True)
total = 0
for p, es in edits.items():
    path = os.path.join(root, p)
    lines = open(path, 'rb').read().split(b'\n')
    items = sorted(es.items(), key=lambda kv: kv[0], reverse=True)
    last = None
    for (l1, c1, l2, c2), text in items:
        assert l1 == l2, (p, l1, l2)
        if last and last[0] == l1 and c2 > last[1]: print('overlap', p, l1+1); continue
        b = lines[l1]; lines[l1] = b[:c1] + text.encode() + b[c2:]; last = (l1, c1); total += 1
    if not dry: open(path, 'wb').write(b'\n'.join(lines))
print(total, 'edits in', len(edits), 'files; %d module rows left for by hand' % len(moves), '%.0f s' % (time.time()-t0))
for a, b in sorted(fileops, key=lambda x: -x[0].count('/')):
    print('MOVE', a, b)
    if not dry:
        if os.path.exists(os.path.join(root, '.git')): subprocess.check_call(['git', 'mv', a, b], cwd=root)
        else: os.rename(os.path.join(root, a), os.path.join(root, b))
for b in bad: print('BAD', *b)
for m in moves: print('MOD', *m)
ls.p.kill()
