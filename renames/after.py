#!/usr/bin/env python3
"""after.py ROOT TABLE.tsv...: after the renames: locals that still use old terms, and identifiers in comments."""
import sys,os,re,collections
import extract
root=sys.argv[1]; tables=sys.argv[2:]; os.chdir(root)
rows=[l.rstrip('\n').split('\t') for t in tables for l in open(t) if l.strip() and not l.startswith(('#','file\t'))]
LOCALS=[('folds','message_tree'),('lane','main_chain'),('voices','roles'),('voice','role'),('fold','message'),('ways','branches'),('way','branch')]
def rs():
    for top in ('crates','fuzz/fuzz_targets'):
        for d,_,fs in os.walk(top):
            if '/target' in d: continue
            for f in sorted(fs):
                if f.endswith('.rs'): yield os.path.join(d,f)
stat=collections.Counter()
for f in rs():
    if 'ramus-core' not in f: continue
    t=open(f).read(); b=extract.blank(t)
    for old,new in LOCALS:
        pat=re.compile(rf'(?:(?<![\w.\'$])|(?<=\.\.)){old}(?!\w|\(|!|::)')
        if not pat.search(b): continue
        if re.search(rf'\bfn {old}\b|(?<![.\w]){old}\(',b): continue
        uses=[m for m in re.finditer(rf'(?:(?<![\w.])|(?<=\.\.)){new}(?!\w|::)',b)]
        # field initialisers, patterns and declarations `new: x` are no clash by themselves, nor is `new` as a field of `Self`
        uses=[m for m in uses if not re.match(rf'{new}\s*:(?!:)',b[m.start():])]
        if uses: stat[f'skip {old}']+=1; continue
        t=re.sub(rf'\{{{old}(?=[}}:])',f'{{{new}',t); b=extract.blank(t)
        out=[];last=0
        for m in pat.finditer(b):
            out.append(t[last:m.start()]); out.append(new); last=m.end()
        out.append(t[last:]); t=''.join(out)
        t=re.sub(rf'(?<![\w.]){new}: {new}(?=\s*[,}}])',new,t)
        b=extract.blank(t); stat[f'{old}->{new}']+=1
    open(f,'w').write(t)
print(dict(stat))
# identifiers in comments
types=collections.defaultdict(set); tfile=collections.defaultdict(dict); meth={}; free=collections.defaultdict(set)
for f,k,c,o,n in rows:
    if k in('struct','enum','trait','type'): types[o].add(n); tfile[f][o]=n
    elif k in('fn','variant','field') and c: meth[(c.split('::')[0],o)]=n
    elif k in('fn','const') and not c: free[o].add(n); tfile[f].setdefault(('fn',o),n)
    elif k=='mod': free[('mod',o)].add(n)
newfile={}
for f,k,c,o,n in rows:
    if k=='mod':
        pass
def oldfile(f):
    return f
moved={}
for f,k,c,o,n in rows:
    if k=='mod' and not f.endswith('/mod.rs'):
        moved[os.path.join(os.path.dirname(f),n+'.rs')]=f
    elif k=='mod': moved[os.path.dirname(f)+'.rs']=f
left=[]
infile=collections.defaultdict(lambda: collections.defaultdict(set)); anywhere=collections.defaultdict(set)
for f,k,c,o,n in rows:
    if k in('fn','variant','field','const'): infile[f][o].add(n)
    if k in('fn','const') and not c: anywhere[o].add(n)
def fix(code,f,link):
    of=moved.get(f,f); local=tfile.get(of,{})
    m=re.fullmatch(r'([\w:]+?)(\(\))?',code)
    if not m or not re.fullmatch(r'\w+(::\w+)*',m.group(1)): return None
    parts=m.group(1).split('::'); call=m.group(2) or ''
    def t1(name):
        if name in local: return local[name]
        if name in types and len(types[name])==1: return next(iter(types[name]))
        if name in types: left.append((f,code))
        return None
    last=parts[-1]; owner=parts[-2] if len(parts)>1 else ''
    new=list(parts)
    if owner and (owner[0].isupper()):
        n=meth.get((owner,last))
        if owner=='Self':
            c=infile[of].get(last,set()); n=next(iter(c)) if len(c)==1 else None
        if n: new[-1]=n
        if owner!='Self': new[-2]=t1(owner) or owner
    elif last[0].isupper() and not last.isupper(): new[-1]=t1(last) or last
    elif link or call or last.isupper():
        c=infile[of].get(last,set())
        if len(c)==1: new[-1]=next(iter(c))
        elif not c and len(anywhere.get(last,()))==1 and (call or last.isupper()): new[-1]=next(iter(anywhere[last]))
    return '::'.join(new)+call if new!=parts else None
DOC=[(r'\.word\(\)','.as_str()'),(r'\bsession\.end\(\)','session.finish_last_line()'),(r'\bRule::Client','ResumeRule::Client'),(r'resume::Rule\b','resume::ResumeRule'),
 (r'\.resuming\(\)','.resuming_conversation()'),(r'history\.path\(','history.conversation_path('),(r'record\(\*id\)\.name\b','record(*id).uuid'),(r'\|name\| history\.session\.spell\(name\)','|uuid| history.session.uuid_text(uuid)'),(r'span\.at\b','span.offset')]
changed=0
for f in rs():
    ls=open(f).read().split('\n'); ch=False; incode=False
    for i,l in enumerate(ls):
        m=re.match(r'^(\s*//[/!]?)(.*)$',l)
        if not m: continue
        body=m.group(2)
        if body.strip().startswith('```'): incode=not incode; continue
        if incode:
            nb=body
            for o,n in DOC: nb=re.sub(o,n,nb)
            if nb!=body: ls[i]=m.group(1)+nb; ch=True; changed+=1
            continue
        def rep(mm):
            n=fix(mm.group(1),f,body[mm.start()-1:mm.start()]=='['); return '`'+n+'`' if n else mm.group(0)
        nb=re.sub(r'`([^`]+)`',rep,body)
        # targets of links
        def rep2(mm):
            n=fix(mm.group(1),f,True); return ']('+n+')' if n else mm.group(0)
        nb=re.sub(r'\]\(([\w:]+(?:\(\))?)\)',rep2,nb)
        for o,ns in free.items():
            if isinstance(o,tuple) and len(ns)==1:
                n=next(iter(ns)); nb=re.sub(rf'\(crate::{o[1]}\)',f'(crate::{n})',nb); nb=re.sub(rf'\[`{o[1]}`\]\(crate::{n}\)',f'[`{n}`](crate::{n})',nb)
        if nb!=body: ls[i]=m.group(1)+nb; ch=True; changed+=1
    if ch: open(f,'w').write('\n'.join(ls))
print(changed,'comment lines changed'); 
for x in left: print('LEFT',x)

t=open('README.md').read(); n=t
for o,x in DOC: n=re.sub(o,x,n)
open('README.md','w').write(n)

# inline snapshots that show type names
def text(f,pairs):
    if os.path.exists(f):
        t=open(f).read(); n=t
        for a,b in pairs: n=n.replace(a,b)
        if n!=t: open(f,'w').write(n)
text('crates/ramus-core/src/turn/tests.rs',[('Command(Command {','Command(CommandTurn {'),('Note(Note {','Note(ClientNote {')])
text('crates/ramus-core/src/live/tests.rs',[('Command(Command { name: "/clear", args: "", stdout: "", stde','Command(CommandTurn { name: "/clear", args: "", stdout: "",')])
