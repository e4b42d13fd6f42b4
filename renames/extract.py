#!/usr/bin/env python3
"""List definitions of production Rust code: file, kind, container, name, line, signature."""
import re,sys,os
def blank(src):
    """Blank comments and string/char contents, keeping positions."""
    out=list(src);i=0;n=len(src)
    def fill(a,b):
        for k in range(a,b):
            if out[k]!='\n': out[k]=' '
    while i<n:
        c=src[i]
        if src.startswith('//',i):
            j=src.find('\n',i); j=n if j<0 else j; fill(i,j); i=j
        elif src.startswith('/*',i):
            d=1;j=i+2
            while j<n and d:
                if src.startswith('/*',j): d+=1;j+=2
                elif src.startswith('*/',j): d-=1;j+=2
                else: j+=1
            fill(i,j); i=j
        elif m:=re.compile(r'(?:br|r|b|c|cr)?(#*)"').match(src,i):
            pre=m.group(0); 
            if i>0 and (src[i-1].isalnum() or src[i-1]=='_'): i+=1; continue
            if 'r' in pre:
                end='"'+m.group(1); j=src.find(end,m.end()); j=j+len(end)
            elif m.group(1): i+=1; continue
            else:
                j=m.end()
                while src[j]!='"':
                    j+=2 if src[j]=='\\' else 1
                j+=1
            fill(i,j); out[i]='"'; out[j-1]='"'; i=j
        elif m:=re.compile(r"b?'(\\x..|\\u\{[^}]*\}|\\.|[^\\'])'").match(src,i):
            fill(i,m.end()); i=m.end()
        elif c.isalnum() or c=='_':
            m=re.compile(r'\w+').match(src,i); i=m.end()
        else: i+=1
    return ''.join(out)
def match(s,i,o,c):
    d=0
    while i<len(s):
        if s[i]==o: d+=1
        elif s[i]==c:
            d-=1
            if d==0: return i
        i+=1
    return len(s)
def angle(s,i):
    """s[i]=='<': the index after its '>'"""
    d=0
    while i<len(s):
        if s[i]=='<': d+=1
        elif s[i]=='>' and s[i-1] not in '-=':
            d-=1
            if d==0: return i+1
        i+=1
    return i
VIS=r'(?:pub(?:\s*\([^)]*\))?\s+)?'
ITEM=re.compile(r'(?<![\w$])(?:(fn)\s+(\w+)|(struct|enum|trait|union)\s+(\w+)|(impl)\b|(const|static)\s+(?:mut\s+)?(\w+)\s*:|(type)\s+(\w+)|(mod)\s+(\w+)|(macro_rules)!\s*(\w+))')
def defs(path):
    src=open(path).read(); s=blank(src); res=[]
    def line(i): return src.count('\n',0,i)+1
    def doc(i):
        # first doc line above
        ls=src[:i].split('\n'); k=len(ls)-2; d=[]
        while k>=0 and (ls[k].strip().startswith('///') or ls[k].strip().startswith('#[')):
            if ls[k].strip().startswith('///'): d.insert(0,ls[k].strip()[3:].strip())
            k-=1
        return ' '.join(d)
    def walk(a,b,cont,trait_impl):
        i=a
        while i<b:
            # cfg(test) item: skip
            m=re.compile(r'#\[cfg\((test|all\(test[^)]*\))\)\]').match(s,i)
            if m:
                j=m.end()
                # find end of the item: ; or { }
                k=j
                while k<b and s[k] not in ';{': k+=1
                i=k+1 if k<b and s[k]==';' else match(s,k,'{','}')+1
                continue
            m=ITEM.match(s,i)
            if not m:
                if s[i]=='{': i=match(s,i,'{','}')+1
                elif s[i]=='(': i=match(s,i,'(',')')+1
                elif s[i]=='#' and i+1<b and s[i+1]=='[': i=match(s,i+1,'[',']')+1
                else:
                    mm=re.compile(r'\w+').match(s,i)
                    i=mm.end() if mm else i+1
                continue
            ls=s.rfind('\n',0,i)+1
            if m.group(1):
                k=m.end()
                if s[k:k+1]=='<': k=angle(s,k)
                k=match(s,s.find('(',k),'(',')')+1
                while k<b and s[k] not in ';{':
                    if s[k]=='(' : k=match(s,k,'(',')')
                    if s[k]=='[' : k=match(s,k,'[',']')
                    k+=1
                res.append((path,'fn',cont,m.group(2),line(i),' '.join(src[ls:k].split()),doc(ls),trait_impl))
                if s[k:k+1]=='{':
                    e=match(s,k,'{','}')
                    # nested fns
                    for mm in re.finditer(r'(?<!\w)fn\s+(\w+)',s[k:e]):
                        res.append((path,'fn','@nested',mm.group(1),line(k+mm.start()),'nested','',False))
                    k=e
                i=k+1
            elif m.group(3):
                kind,name=m.group(3),m.group(4); k=m.end()
                res.append((path,kind,cont if kind!='x' else '',name,line(i),' '.join(src[ls:m.end()].split()),doc(ls),False))
                if s[k:k+1]=='<': k=angle(s,k)
                while k<b and s[k] not in ';{(' : k+=1
                if s[k]=='(':
                    k=match(s,k,'(',')')
                    while k<b and s[k]!=';': k+=1
                elif s[k]=='{':
                    e=match(s,k,'{','}')
                    if kind=='trait': walk(k+1,e,name,False)
                    elif kind=='struct':
                        fields(k+1,e,name)
                    else: variants(k+1,e,name)
                    k=e
                i=k+1
            elif m.group(5):
                k=m.end()
                while s[k].isspace(): k+=1
                if s[k]=='<': k=angle(s,k)
                e=k
                while s[e]!='{':
                    if s[e]=='(' : e=match(s,e,'(',')')
                    e+=1
                head=s[k:e]
                head=re.split(r'\bwhere\b',head)[0]
                ti=re.search(r'\bfor\b(?!\s*<)',head)
                ty=head[ti.end():] if ti else head
                ty=re.sub(r"<.*",'',ty.strip().lstrip('&').replace("'_","").strip(),flags=re.S)
                ty=re.sub(r"^&?\s*('\w+)?\s*(mut)?\s*",'',ty).split('::')[-1].strip()
                end=match(s,e,'{','}')
                walk(e+1,end,ty,bool(ti))
                i=end+1
            elif m.group(6):
                res.append((path,'const',cont,m.group(7),line(i),' '.join(src[ls:s.find('\n',i)].split())[:150],doc(ls),trait_impl))
                k=m.end()
                while k<b and s[k]!=';':
                    if s[k] in '{([': k=match(s,k,s[k],{'{':'}','(':')','[':']'}[s[k]])
                    k+=1
                i=k+1
            elif m.group(8):
                if not trait_impl: res.append((path,'type',cont,m.group(9),line(i),' '.join(src[ls:s.find('\n',i)].split()),doc(ls),trait_impl))
                i=s.find(';',i)+1
            elif m.group(10):
                res.append((path,'mod',cont,m.group(11),line(i),'','',False))
                k=m.end()
                while s[k] not in ';{': k+=1
                if s[k]=='{':
                    e=match(s,k,'{','}'); walk(k+1,e,cont,False); i=e+1
                else: i=k+1
            else: 
                k=s.find('{',i); i=match(s,k,'{','}')+1
    def fields(a,b,name,kind='field'):
        i=a
        while i<b:
            if s[i]=='#': i=match(s,i+1,'[',']')+1; continue
            m=re.compile(VIS+r'(\w+)\s*:(?!:)').match(s,i)
            if m:
                ls=s.rfind('\n',0,i)+1
                k=m.end()
                while k<b and s[k]!=',':
                    if s[k] in '([{': k=match(s,k,s[k],{'{':'}','(':')','[':']'}[s[k]])
                    elif s[k]=='<': k=angle(s,k)-1
                    k+=1
                res.append((path,kind,name,m.group(1),line(i),' '.join(src[i:k].split()),doc(ls),False))
                i=k+1
            else: i+=1
    def variants(a,b,name):
        i=a
        while i<b:
            if s[i]=='#': i=match(s,i+1,'[',']')+1; continue
            m=re.compile(r'(\w+)').match(s,i)
            if m:
                ls=s.rfind('\n',0,i)+1
                k=m.end()
                while k<b and s[k].isspace(): k+=1
                st=k
                if k<b and s[k] in '({':
                    e=match(s,k,s[k],')' if s[k]=='(' else '}')
                    k=e+1
                while k<b and s[k]!=',': k+=1
                res.append((path,'variant',name,m.group(1),line(i),' '.join(src[i:k].split()),doc(ls),False))
                if st<b and s[st]=='{': fields(st+1,match(s,st,'{','}'),name+'::'+m.group(1))
                i=k+1
            else: i+=1
    walk(0,len(s),'',False)
    return res
def production(root='crates'):
    import subprocess
    fs=subprocess.run(['git','ls-files',root],capture_output=True,text=True).stdout.split()
    return [f for f in fs if '/src/' in f and f.endswith('.rs') and not re.search(r'tests\.rs$|/tests/|testkit',f)]
if __name__=='__main__':
    fs=sys.argv[1:] or production()
    for f in fs:
        for d in defs(f): print('\t'.join(map(str,d)))
