"use strict";const all=document.querySelector("#all");
if(all)all.addEventListener("click",()=>{const open=all.getAttribute("aria-pressed")!=="true";document.querySelectorAll("main details").forEach(d=>{d.open=open});all.setAttribute("aria-pressed",String(open));all.textContent=open?"Close all":"Open all"});
addEventListener("beforeprint",()=>document.querySelectorAll("main details").forEach(d=>{d.open=true}));
const find=document.querySelector("#find");
if(find){
const look=()=>{const words=find.value.toLowerCase().split(/\s+/).filter(Boolean);let seen=0;
document.querySelectorAll(".project").forEach(p=>{let any=false;const name=p.querySelector("h2").textContent.toLowerCase();
p.querySelectorAll(".session").forEach(s=>{const text=name+" "+s.textContent.toLowerCase();const hit=words.every(w=>text.includes(w));s.hidden=!hit;if(hit){any=true;seen++}});p.hidden=!any});
document.querySelector("#none").hidden=seen>0};
find.addEventListener("input",look);
if(location.hash.startsWith("#q=")){find.value=decodeURIComponent(location.hash.slice(3));look()}
}
const now=document.querySelector("nav.paths [aria-current]");
if(now)now.parentElement.scrollTop=now.offsetTop-now.parentElement.offsetTop-60;
const outline=document.querySelector("#outline details");
if(outline&&matchMedia("(min-width:84rem)").matches)outline.open=true;
