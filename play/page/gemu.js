var vt=globalThis,bt=vt.ShadowRoot&&(vt.ShadyCSS===void 0||vt.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,Ct=Symbol(),Ts=new WeakMap,Qe=class{constructor(s,e,t){if(this._$cssResult$=!0,t!==Ct)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=s,this.t=e}get styleSheet(){let s=this.o,e=this.t;if(bt&&s===void 0){let t=e!==void 0&&e.length===1;t&&(s=Ts.get(e)),s===void 0&&((this.o=s=new CSSStyleSheet).replaceSync(this.cssText),t&&Ts.set(e,s))}return s}toString(){return this.cssText}},Cs=r=>new Qe(typeof r=="string"?r:r+"",void 0,Ct),K=(r,...s)=>{let e=r.length===1?r[0]:s.reduce((t,n,i)=>t+(o=>{if(o._$cssResult$===!0)return o.cssText;if(typeof o=="number")return o;throw Error("Value passed to 'css' function must be a 'css' function result: "+o+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(n)+r[i+1],r[0]);return new Qe(e,r,Ct)},zs=(r,s)=>{if(bt)r.adoptedStyleSheets=s.map(e=>e instanceof CSSStyleSheet?e:e.styleSheet);else for(let e of s){let t=document.createElement("style"),n=vt.litNonce;n!==void 0&&t.setAttribute("nonce",n),t.textContent=e.cssText,r.appendChild(t)}},zt=bt?r=>r:r=>r instanceof CSSStyleSheet?(s=>{let e="";for(let t of s.cssRules)e+=t.cssText;return Cs(e)})(r):r;var{is:Kn,defineProperty:Zn,getOwnPropertyDescriptor:Jn,getOwnPropertyNames:Yn,getOwnPropertySymbols:Qn,getPrototypeOf:Xn}=Object,wt=globalThis,Rs=wt.trustedTypes,ei=Rs?Rs.emptyScript:"",ti=wt.reactiveElementPolyfillSupport,Xe=(r,s)=>r,Rt={toAttribute(r,s){switch(s){case Boolean:r=r?ei:null;break;case Object:case Array:r=r==null?r:JSON.stringify(r)}return r},fromAttribute(r,s){let e=r;switch(s){case Boolean:e=r!==null;break;case Number:e=r===null?null:Number(r);break;case Object:case Array:try{e=JSON.parse(r)}catch{e=null}}return e}},Ps=(r,s)=>!Kn(r,s),Is={attribute:!0,type:String,converter:Rt,reflect:!1,useDefault:!1,hasChanged:Ps};Symbol.metadata??=Symbol("metadata"),wt.litPropertyMetadata??=new WeakMap;var we=class extends HTMLElement{static addInitializer(s){this._$Ei(),(this.l??=[]).push(s)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(s,e=Is){if(e.state&&(e.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(s)&&((e=Object.create(e)).wrapped=!0),this.elementProperties.set(s,e),!e.noAccessor){let t=Symbol(),n=this.getPropertyDescriptor(s,t,e);n!==void 0&&Zn(this.prototype,s,n)}}static getPropertyDescriptor(s,e,t){let{get:n,set:i}=Jn(this.prototype,s)??{get(){return this[e]},set(o){this[e]=o}};return{get:n,set(o){let a=n?.call(this);i?.call(this,o),this.requestUpdate(s,a,t)},configurable:!0,enumerable:!0}}static getPropertyOptions(s){return this.elementProperties.get(s)??Is}static _$Ei(){if(this.hasOwnProperty(Xe("elementProperties")))return;let s=Xn(this);s.finalize(),s.l!==void 0&&(this.l=[...s.l]),this.elementProperties=new Map(s.elementProperties)}static finalize(){if(this.hasOwnProperty(Xe("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(Xe("properties"))){let e=this.properties,t=[...Yn(e),...Qn(e)];for(let n of t)this.createProperty(n,e[n])}let s=this[Symbol.metadata];if(s!==null){let e=litPropertyMetadata.get(s);if(e!==void 0)for(let[t,n]of e)this.elementProperties.set(t,n)}this._$Eh=new Map;for(let[e,t]of this.elementProperties){let n=this._$Eu(e,t);n!==void 0&&this._$Eh.set(n,e)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(s){let e=[];if(Array.isArray(s)){let t=new Set(s.flat(1/0).reverse());for(let n of t)e.unshift(zt(n))}else s!==void 0&&e.push(zt(s));return e}static _$Eu(s,e){let t=e.attribute;return t===!1?void 0:typeof t=="string"?t:typeof s=="string"?s.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(s=>this.enableUpdating=s),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(s=>s(this))}addController(s){(this._$EO??=new Set).add(s),this.renderRoot!==void 0&&this.isConnected&&s.hostConnected?.()}removeController(s){this._$EO?.delete(s)}_$E_(){let s=new Map,e=this.constructor.elementProperties;for(let t of e.keys())this.hasOwnProperty(t)&&(s.set(t,this[t]),delete this[t]);s.size>0&&(this._$Ep=s)}createRenderRoot(){let s=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return zs(s,this.constructor.elementStyles),s}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(s=>s.hostConnected?.())}enableUpdating(s){}disconnectedCallback(){this._$EO?.forEach(s=>s.hostDisconnected?.())}attributeChangedCallback(s,e,t){this._$AK(s,t)}_$ET(s,e){let t=this.constructor.elementProperties.get(s),n=this.constructor._$Eu(s,t);if(n!==void 0&&t.reflect===!0){let i=(t.converter?.toAttribute!==void 0?t.converter:Rt).toAttribute(e,t.type);this._$Em=s,i==null?this.removeAttribute(n):this.setAttribute(n,i),this._$Em=null}}_$AK(s,e){let t=this.constructor,n=t._$Eh.get(s);if(n!==void 0&&this._$Em!==n){let i=t.getPropertyOptions(n),o=typeof i.converter=="function"?{fromAttribute:i.converter}:i.converter?.fromAttribute!==void 0?i.converter:Rt;this._$Em=n;let a=o.fromAttribute(e,i.type);this[n]=a??this._$Ej?.get(n)??a,this._$Em=null}}requestUpdate(s,e,t,n=!1,i){if(s!==void 0){let o=this.constructor;if(n===!1&&(i=this[s]),t??=o.getPropertyOptions(s),!((t.hasChanged??Ps)(i,e)||t.useDefault&&t.reflect&&i===this._$Ej?.get(s)&&!this.hasAttribute(o._$Eu(s,t))))return;this.C(s,e,t)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(s,e,{useDefault:t,reflect:n,wrapped:i},o){t&&!(this._$Ej??=new Map).has(s)&&(this._$Ej.set(s,o??e??this[s]),i!==!0||o!==void 0)||(this._$AL.has(s)||(this.hasUpdated||t||(e=void 0),this._$AL.set(s,e)),n===!0&&this._$Em!==s&&(this._$Eq??=new Set).add(s))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(e){Promise.reject(e)}let s=this.scheduleUpdate();return s!=null&&await s,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[n,i]of this._$Ep)this[n]=i;this._$Ep=void 0}let t=this.constructor.elementProperties;if(t.size>0)for(let[n,i]of t){let{wrapped:o}=i,a=this[n];o!==!0||this._$AL.has(n)||a===void 0||this.C(n,void 0,i,a)}}let s=!1,e=this._$AL;try{s=this.shouldUpdate(e),s?(this.willUpdate(e),this._$EO?.forEach(t=>t.hostUpdate?.()),this.update(e)):this._$EM()}catch(t){throw s=!1,this._$EM(),t}s&&this._$AE(e)}willUpdate(s){}_$AE(s){this._$EO?.forEach(e=>e.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(s)),this.updated(s)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(s){return!0}update(s){this._$Eq&&=this._$Eq.forEach(e=>this._$ET(e,this[e])),this._$EM()}updated(s){}firstUpdated(s){}};we.elementStyles=[],we.shadowRootOptions={mode:"open"},we[Xe("elementProperties")]=new Map,we[Xe("finalized")]=new Map,ti?.({ReactiveElement:we}),(wt.reactiveElementVersions??=[]).push("2.1.2");var Ot=globalThis,Us=r=>r,xt=Ot.trustedTypes,Hs=xt?xt.createPolicy("lit-html",{createHTML:r=>r}):void 0,qs="$lit$",Ae=`lit$${Math.random().toFixed(9).slice(2)}$`,Ds="?"+Ae,si=`<${Ds}>`,Ce=document,tt=()=>Ce.createComment(""),st=r=>r===null||typeof r!="object"&&typeof r!="function",Nt=Array.isArray,ni=r=>Nt(r)||typeof r?.[Symbol.iterator]=="function",It=`[ 	
\f\r]`,et=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,Bs=/-->/g,Ws=/>/g,Le=RegExp(`>|${It}(?:([^\\s"'>=/]+)(${It}*=${It}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),Os=/'/g,Ns=/"/g,Fs=/^(?:script|style|textarea|title)$/i,_t=r=>(s,...e)=>({_$litType$:r,strings:s,values:e}),f=_t(1),X=_t(2),or=_t(3),ze=Symbol.for("lit-noChange"),v=Symbol.for("lit-nothing"),_s=new WeakMap,Te=Ce.createTreeWalker(Ce,129);function js(r,s){if(!Nt(r)||!r.hasOwnProperty("raw"))throw Error("invalid template strings array");return Hs!==void 0?Hs.createHTML(s):s}var ii=(r,s)=>{let e=r.length-1,t=[],n,i=s===2?"<svg>":s===3?"<math>":"",o=et;for(let a=0;a<e;a++){let l=r[a],h,c,p=-1,u=0;for(;u<l.length&&(o.lastIndex=u,c=o.exec(l),c!==null);)u=o.lastIndex,o===et?c[1]==="!--"?o=Bs:c[1]!==void 0?o=Ws:c[2]!==void 0?(Fs.test(c[2])&&(n=RegExp("</"+c[2],"g")),o=Le):c[3]!==void 0&&(o=Le):o===Le?c[0]===">"?(o=n??et,p=-1):c[1]===void 0?p=-2:(p=o.lastIndex-c[2].length,h=c[1],o=c[3]===void 0?Le:c[3]==='"'?Ns:Os):o===Ns||o===Os?o=Le:o===Bs||o===Ws?o=et:(o=Le,n=void 0);let d=o===Le&&r[a+1].startsWith("/>")?" ":"";i+=o===et?l+si:p>=0?(t.push(h),l.slice(0,p)+qs+l.slice(p)+Ae+d):l+Ae+(p===-2?a:d)}return[js(r,i+(r[e]||"<?>")+(s===2?"</svg>":s===3?"</math>":"")),t]},nt=class r{constructor({strings:s,_$litType$:e},t){let n;this.parts=[];let i=0,o=0,a=s.length-1,l=this.parts,[h,c]=ii(s,e);if(this.el=r.createElement(h,t),Te.currentNode=this.el.content,e===2||e===3){let p=this.el.content.firstChild;p.replaceWith(...p.childNodes)}for(;(n=Te.nextNode())!==null&&l.length<a;){if(n.nodeType===1){if(n.hasAttributes())for(let p of n.getAttributeNames())if(p.endsWith(qs)){let u=c[o++],d=n.getAttribute(p).split(Ae),y=/([.?@])?(.*)/.exec(u);l.push({type:1,index:i,name:y[2],strings:d,ctor:y[1]==="."?Ut:y[1]==="?"?Ht:y[1]==="@"?Bt:Oe}),n.removeAttribute(p)}else p.startsWith(Ae)&&(l.push({type:6,index:i}),n.removeAttribute(p));if(Fs.test(n.tagName)){let p=n.textContent.split(Ae),u=p.length-1;if(u>0){n.textContent=xt?xt.emptyScript:"";for(let d=0;d<u;d++)n.append(p[d],tt()),Te.nextNode(),l.push({type:2,index:++i});n.append(p[u],tt())}}}else if(n.nodeType===8)if(n.data===Ds)l.push({type:2,index:i});else{let p=-1;for(;(p=n.data.indexOf(Ae,p+1))!==-1;)l.push({type:7,index:i}),p+=Ae.length-1}i++}}static createElement(s,e){let t=Ce.createElement("template");return t.innerHTML=s,t}};function We(r,s,e=r,t){if(s===ze)return s;let n=t!==void 0?e._$Co?.[t]:e._$Cl,i=st(s)?void 0:s._$litDirective$;return n?.constructor!==i&&(n?._$AO?.(!1),i===void 0?n=void 0:(n=new i(r),n._$AT(r,e,t)),t!==void 0?(e._$Co??=[])[t]=n:e._$Cl=n),n!==void 0&&(s=We(r,n._$AS(r,s.values),n,t)),s}var Pt=class{constructor(s,e){this._$AV=[],this._$AN=void 0,this._$AD=s,this._$AM=e}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(s){let{el:{content:e},parts:t}=this._$AD,n=(s?.creationScope??Ce).importNode(e,!0);Te.currentNode=n;let i=Te.nextNode(),o=0,a=0,l=t[0];for(;l!==void 0;){if(o===l.index){let h;l.type===2?h=new it(i,i.nextSibling,this,s):l.type===1?h=new l.ctor(i,l.name,l.strings,this,s):l.type===6&&(h=new Wt(i,this,s)),this._$AV.push(h),l=t[++a]}o!==l?.index&&(i=Te.nextNode(),o++)}return Te.currentNode=Ce,n}p(s){let e=0;for(let t of this._$AV)t!==void 0&&(t.strings!==void 0?(t._$AI(s,t,e),e+=t.strings.length-2):t._$AI(s[e])),e++}},it=class r{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(s,e,t,n){this.type=2,this._$AH=v,this._$AN=void 0,this._$AA=s,this._$AB=e,this._$AM=t,this.options=n,this._$Cv=n?.isConnected??!0}get parentNode(){let s=this._$AA.parentNode,e=this._$AM;return e!==void 0&&s?.nodeType===11&&(s=e.parentNode),s}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(s,e=this){s=We(this,s,e),st(s)?s===v||s==null||s===""?(this._$AH!==v&&this._$AR(),this._$AH=v):s!==this._$AH&&s!==ze&&this._(s):s._$litType$!==void 0?this.$(s):s.nodeType!==void 0?this.T(s):ni(s)?this.k(s):this._(s)}O(s){return this._$AA.parentNode.insertBefore(s,this._$AB)}T(s){this._$AH!==s&&(this._$AR(),this._$AH=this.O(s))}_(s){this._$AH!==v&&st(this._$AH)?this._$AA.nextSibling.data=s:this.T(Ce.createTextNode(s)),this._$AH=s}$(s){let{values:e,_$litType$:t}=s,n=typeof t=="number"?this._$AC(s):(t.el===void 0&&(t.el=nt.createElement(js(t.h,t.h[0]),this.options)),t);if(this._$AH?._$AD===n)this._$AH.p(e);else{let i=new Pt(n,this),o=i.u(this.options);i.p(e),this.T(o),this._$AH=i}}_$AC(s){let e=_s.get(s.strings);return e===void 0&&_s.set(s.strings,e=new nt(s)),e}k(s){Nt(this._$AH)||(this._$AH=[],this._$AR());let e=this._$AH,t,n=0;for(let i of s)n===e.length?e.push(t=new r(this.O(tt()),this.O(tt()),this,this.options)):t=e[n],t._$AI(i),n++;n<e.length&&(this._$AR(t&&t._$AB.nextSibling,n),e.length=n)}_$AR(s=this._$AA.nextSibling,e){for(this._$AP?.(!1,!0,e);s!==this._$AB;){let t=Us(s).nextSibling;Us(s).remove(),s=t}}setConnected(s){this._$AM===void 0&&(this._$Cv=s,this._$AP?.(s))}},Oe=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(s,e,t,n,i){this.type=1,this._$AH=v,this._$AN=void 0,this.element=s,this.name=e,this._$AM=n,this.options=i,t.length>2||t[0]!==""||t[1]!==""?(this._$AH=Array(t.length-1).fill(new String),this.strings=t):this._$AH=v}_$AI(s,e=this,t,n){let i=this.strings,o=!1;if(i===void 0)s=We(this,s,e,0),o=!st(s)||s!==this._$AH&&s!==ze,o&&(this._$AH=s);else{let a=s,l,h;for(s=i[0],l=0;l<i.length-1;l++)h=We(this,a[t+l],e,l),h===ze&&(h=this._$AH[l]),o||=!st(h)||h!==this._$AH[l],h===v?s=v:s!==v&&(s+=(h??"")+i[l+1]),this._$AH[l]=h}o&&!n&&this.j(s)}j(s){s===v?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,s??"")}},Ut=class extends Oe{constructor(){super(...arguments),this.type=3}j(s){this.element[this.name]=s===v?void 0:s}},Ht=class extends Oe{constructor(){super(...arguments),this.type=4}j(s){this.element.toggleAttribute(this.name,!!s&&s!==v)}},Bt=class extends Oe{constructor(s,e,t,n,i){super(s,e,t,n,i),this.type=5}_$AI(s,e=this){if((s=We(this,s,e,0)??v)===ze)return;let t=this._$AH,n=s===v&&t!==v||s.capture!==t.capture||s.once!==t.once||s.passive!==t.passive,i=s!==v&&(t===v||n);n&&this.element.removeEventListener(this.name,this,t),i&&this.element.addEventListener(this.name,this,s),this._$AH=s}handleEvent(s){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,s):this._$AH.handleEvent(s)}},Wt=class{constructor(s,e,t){this.element=s,this.type=6,this._$AN=void 0,this._$AM=e,this.options=t}get _$AU(){return this._$AM._$AU}_$AI(s){We(this,s)}};var ri=Ot.litHtmlPolyfillSupport;ri?.(nt,it),(Ot.litHtmlVersions??=[]).push("3.3.3");var Vs=(r,s,e)=>{let t=e?.renderBefore??s,n=t._$litPart$;if(n===void 0){let i=e?.renderBefore??null;t._$litPart$=n=new it(s.insertBefore(tt(),i),i,void 0,e??{})}return n._$AI(r),n};var qt=globalThis,me=class extends we{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let s=super.createRenderRoot();return this.renderOptions.renderBefore??=s.firstChild,s}update(s){let e=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(s),this._$Do=Vs(e,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return ze}};me._$litElement$=!0,me.finalized=!0,qt.litElementHydrateSupport?.({LitElement:me});var oi=qt.litElementPolyfillSupport;oi?.({LitElement:me});(qt.litElementVersions??=[]).push("4.2.2");var[Gs,yt,Dt]=[26,34,16];function Ks(r){let s=r.filter(m=>m.instructions>0),e=new Set(s.map(m=>m.index)),t=new Map(r.map(m=>[m.index,m])),n=m=>{let w=new Set;for(;!e.has(m);){if(w.has(m))return-1;w.add(m),m=t.get(m)?.next[0]??-1}return m},i=new Map(s.map(m=>[m.index,[...new Set(m.next.map(n))]])),o=new Map,a=new Set,l=[],h=m=>{o.set(m,1);for(let w of i.get(m)??[])w<0||(o.get(w)===1?a.add(`${m} ${w}`):o.has(w)||h(w));o.set(m,2),l.unshift(m)};for(let m of s)o.has(m.index)||h(m.index);let c=new Map;for(let m of l){c.set(m,c.get(m)??0);for(let w of i.get(m)??[])w>=0&&!a.has(`${m} ${w}`)&&c.set(w,Math.max(c.get(w)??0,c.get(m)+1))}let p=[];for(let m of s)(p[c.get(m.index)]??=[]).push(m.index);let u=new Map;p.forEach(m=>m.forEach((w,M)=>u.set(w,M-(m.length-1)/2)));for(let m=0;m<2;m++)for(let w of p.slice(1)){let M=T=>{let O=s.filter(F=>i.get(F.index).includes(T)&&!a.has(`${F.index} ${T}`)).map(F=>u.get(F.index));return O.length?O.reduce((F,j)=>F+j,0)/O.length:u.get(T)},z=new Map(w.map(T=>[T,M(T)]));w.sort((T,O)=>z.get(T)-z.get(O)||T-O),w.forEach((T,O)=>u.set(T,O-(w.length-1)/2))}let d=Math.max(1,...p.map(m=>m.length)),y=a.size,A=s.some(m=>i.get(m.index).some(w=>w>=0&&c.get(w)-c.get(m.index)>1))?1:0,g=14+Math.max(y,A*2)*Dt,x=d*(132+Gs)+2*g,k=x/2,$=new Map;p.forEach((m,w)=>m.forEach(M=>$.set(M,{block:M,x:k+u.get(M)*(132+Gs),y:8+w*(44+yt)})));let b=[],E=0,S=0;for(let m of s){let[w,M]=[$.get(m.index),i.get(m.index)],z=M.map(T=>$.get(T)?.x??-1/0).sort((T,O)=>T-O);M.forEach(T=>{let O=z.indexOf($.get(T)?.x??-1/0),F=w.x+(O-(M.length-1)/2)*28,j=w.y+44;if(T<0){b.push({from:m.index,to:-1,back:!1,path:`M${F} ${j}v14`});return}let q=$.get(T);if(a.has(`${m.index} ${T}`)){let _=Math.max(...[...$.values()].filter(L=>L.y>=q.y&&L.y<=w.y).map(L=>L.x))+66+10+Dt*E++,H=w.x+132/2;b.push({from:m.index,to:T,back:!0,path:`M${H} ${w.y+44/2}H${_-6}q6 0 6 -6V${q.y+44/2+6}q0 -6 -6 -6H${q.x+132/2+5}`})}else if(c.get(T)-c.get(m.index)>1&&[...$.values()].some(_=>_.y>w.y&&_.y<q.y&&Math.abs(_.x-(F+q.x)/2)<132/2+4)){let _=Math.min(...[...$.values()].filter(H=>H.y>=w.y&&H.y<=q.y).map(H=>H.x))-66-10-Dt*S++;b.push({from:m.index,to:T,back:!1,path:`M${w.x-132/2} ${w.y+44/2}H${_+6}q-6 0 -6 6V${q.y-20}q0 6 6 6H${q.x-26}q6 0 6 6V${q.y-5}`})}else{let _=q.y-5,H=q.x+Math.max(-14,Math.min(14,F-q.x));b.push({from:m.index,to:T,back:!1,path:`M${F} ${j}C${F} ${j+yt*.7} ${H} ${_-yt*.7} ${H} ${_}`})}})}return{boxes:[...$.values()],edges:b,width:x,height:p.length*(44+yt)+8}}var D={lo:0,hi:0};function V(r,s=0){return{lo:r>>>0,hi:s>>>0}}function R(r,s){return((s<32?r.lo>>>s:r.hi>>>s-32)&1)===1}var xe=(r,s)=>V(r.lo&s.lo,r.hi&s.hi),Z=(r,s)=>V(r.lo|s.lo,r.hi|s.hi),B=(r,s)=>V(r.lo&~s.lo,r.hi&~s.hi),he=(r,s)=>r.lo>>>0===s.lo>>>0&&r.hi>>>0===s.hi>>>0,C=r=>(r.lo|r.hi)===0;function Zs(r){return r-=r>>>1&1431655765,r=(r&858993459)+(r>>>2&858993459),(r+(r>>>4)&252645135)*16843009>>>24}var U=r=>Zs(r.lo)+Zs(r.hi);function J(r){let s=[];for(let e=0;e<64;e++)R(r,e)&&s.push(e);return s}function Ne(r){let[s,e]=[0,0];for(let t of r)t<32?s|=1<<t:e|=1<<t-32;return V(s,e)}function ai(r){let s=[];for(let e=0;e<64;e++){if(!R(r,e))continue;let t=e;for(;t<63&&R(r,t+1);)t++;s.push(t===e?`${e}`:t===e+1?`${e}, ${t}`:`${e}–${t}`),e=t}return s.join(", ")}function li(r,s){let e=xe(s,V(1431655765,1431655765));if(U(r)>=3&&he(r,e))return"even";if(U(r)>=3&&he(r,B(s,e)))return"odd"}function W(r,s){let e=U(r);if(e===0)return"no lane";if(e>1&&he(r,s))return`all ${e} lanes`;let t=li(r,s);if(t)return`the ${t} lanes`;let n=ai(r);if(e===1)return`lane ${n}`;let i=n.split(", ");return i.length>6?`${e} lanes (${i.slice(0,4).join(", ")}, …)`:`lanes ${n}`}var ee=Uint8Array,ae=Uint16Array,Yt=Int32Array,$t=new ee([0,0,0,0,0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4,5,5,5,5,0,0,0,0]),kt=new ee([0,0,0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7,8,8,9,9,10,10,11,11,12,12,13,13,0,0]),Gt=new ee([16,17,18,0,8,7,9,6,10,5,11,4,12,3,13,2,14,1,15]),Xs=function(r,s){for(var e=new ae(31),t=0;t<31;++t)e[t]=s+=1<<r[t-1];for(var n=new Yt(e[30]),t=1;t<30;++t)for(var i=e[t];i<e[t+1];++i)n[i]=i-e[t]<<5|t;return{b:e,r:n}},en=Xs($t,2),tn=en.b,Kt=en.r;tn[28]=258,Kt[258]=28;var sn=Xs(kt,0),ci=sn.b,Js=sn.r,Zt=new ae(32768);for(N=0;N<32768;++N)ye=(N&43690)>>1|(N&21845)<<1,ye=(ye&52428)>>2|(ye&13107)<<2,ye=(ye&61680)>>4|(ye&3855)<<4,Zt[N]=((ye&65280)>>8|(ye&255)<<8)>>1;var ye,N,ge=(function(r,s,e){for(var t=r.length,n=0,i=new ae(s);n<t;++n)r[n]&&++i[r[n]-1];var o=new ae(s);for(n=1;n<s;++n)o[n]=o[n-1]+i[n-1]<<1;var a;if(e){a=new ae(1<<s);var l=15-s;for(n=0;n<t;++n)if(r[n])for(var h=n<<4|r[n],c=s-r[n],p=o[r[n]-1]++<<c,u=p|(1<<c)-1;p<=u;++p)a[Zt[p]>>l]=h}else for(a=new ae(t),n=0;n<t;++n)r[n]&&(a[n]=Zt[o[r[n]-1]++]>>15-r[n]);return a}),Me=new ee(288);for(N=0;N<144;++N)Me[N]=8;var N;for(N=144;N<256;++N)Me[N]=9;var N;for(N=256;N<280;++N)Me[N]=7;var N;for(N=280;N<288;++N)Me[N]=8;var N,at=new ee(32);for(N=0;N<32;++N)at[N]=5;var N,hi=ge(Me,9,0),ui=ge(Me,9,1),pi=ge(at,5,0),di=ge(at,5,1),Ft=function(r){for(var s=r[0],e=1;e<r.length;++e)r[e]>s&&(s=r[e]);return s},ue=function(r,s,e){var t=s/8|0;return(r[t]|r[t+1]<<8)>>(s&7)&e},jt=function(r,s){var e=s/8|0;return(r[e]|r[e+1]<<8|r[e+2]<<16)>>(s&7)},Qt=function(r){return(r+7)/8|0},nn=function(r,s,e){return(s==null||s<0)&&(s=0),(e==null||e>r.length)&&(e=r.length),new ee(r.subarray(s,e))};var fi=["unexpected EOF","invalid block type","invalid length/literal","invalid distance","stream finished","no stream handler",,"no callback","invalid UTF-8 data","extra field too long","date not in range 1980-2099","filename too long","stream finishing","invalid zip data"],ke=function(r,s,e){var t=new Error(s||fi[r]);if(t.code=r,Error.captureStackTrace&&Error.captureStackTrace(t,ke),!e)throw t;return t},mi=function(r,s,e,t){var n=r.length,i=t?t.length:0;if(!n||s.f&&!s.l)return e||new ee(0);var o=!e,a=o||s.i!=2,l=s.i;o&&(e=new ee(n*3));var h=function(Je){var Ye=e.length;if(Je>Ye){var Be=new ee(Math.max(Ye*2,Je));Be.set(e),e=Be}},c=s.f||0,p=s.p||0,u=s.b||0,d=s.l,y=s.d,A=s.m,g=s.n,x=n*8;do{if(!d){c=ue(r,p,1);var k=ue(r,p+1,3);if(p+=3,k)if(k==1)d=ui,y=di,A=9,g=5;else if(k==2){var S=ue(r,p,31)+257,m=ue(r,p+10,15)+4,w=S+ue(r,p+5,31)+1;p+=14;for(var M=new ee(w),z=new ee(19),T=0;T<m;++T)z[Gt[T]]=ue(r,p+T*3,7);p+=m*3;for(var O=Ft(z),F=(1<<O)-1,j=ge(z,O,1),T=0;T<w;){var q=j[ue(r,p,F)];p+=q&15;var $=q>>4;if($<16)M[T++]=$;else{var _=0,H=0;for($==16?(H=3+ue(r,p,3),p+=2,_=M[T-1]):$==17?(H=3+ue(r,p,7),p+=3):$==18&&(H=11+ue(r,p,127),p+=7);H--;)M[T++]=_}}var L=M.subarray(0,S),P=M.subarray(S);A=Ft(L),g=Ft(P),d=ge(L,A,1),y=ge(P,g,1)}else ke(1);else{var $=Qt(p)+4,b=r[$-4]|r[$-3]<<8,E=$+b;if(E>n){l&&ke(0);break}a&&h(u+b),e.set(r.subarray($,E),u),s.b=u+=b,s.p=p=E*8,s.f=c;continue}if(p>x){l&&ke(0);break}}a&&h(u+131072);for(var ce=(1<<A)-1,Q=(1<<g)-1,be=p;;be=p){var _=d[jt(r,p)&ce],re=_>>4;if(p+=_&15,p>x){l&&ke(0);break}if(_||ke(2),re<256)e[u++]=re;else if(re==256){be=p,d=null;break}else{var oe=re-254;if(re>264){var T=re-257,G=$t[T];oe=ue(r,p,(1<<G)-1)+tn[T],p+=G}var fe=y[jt(r,p)&Q],Ue=fe>>4;fe||ke(3),p+=fe&15;var P=ci[Ue];if(Ue>3){var G=kt[Ue];P+=jt(r,p)&(1<<G)-1,p+=G}if(p>x){l&&ke(0);break}a&&h(u+131072);var He=u+oe;if(u<P){var mt=i-P,gt=Math.min(P,He);for(mt+u<0&&ke(3);u<gt;++u)e[u]=t[mt+u]}for(;u<He;++u)e[u]=e[u-P]}}s.l=d,s.p=be,s.b=u,s.f=c,d&&(c=1,s.m=A,s.d=y,s.n=g)}while(!c);return u!=e.length&&o?nn(e,0,u):e.subarray(0,u)},$e=function(r,s,e){e<<=s&7;var t=s/8|0;r[t]|=e,r[t+1]|=e>>8},rt=function(r,s,e){e<<=s&7;var t=s/8|0;r[t]|=e,r[t+1]|=e>>8,r[t+2]|=e>>16},Vt=function(r,s){for(var e=[],t=0;t<r.length;++t)r[t]&&e.push({s:t,f:r[t]});var n=e.length,i=e.slice();if(!n)return{t:on,l:0};if(n==1){var o=new ee(e[0].s+1);return o[e[0].s]=1,{t:o,l:1}}e.sort(function(E,S){return E.f-S.f}),e.push({s:-1,f:25001});var a=e[0],l=e[1],h=0,c=1,p=2;for(e[0]={s:-1,f:a.f+l.f,l:a,r:l};c!=n-1;)a=e[e[h].f<e[p].f?h++:p++],l=e[h!=c&&e[h].f<e[p].f?h++:p++],e[c++]={s:-1,f:a.f+l.f,l:a,r:l};for(var u=i[0].s,t=1;t<n;++t)i[t].s>u&&(u=i[t].s);var d=new ae(u+1),y=Jt(e[c-1],d,0);if(y>s){var t=0,A=0,g=y-s,x=1<<g;for(i.sort(function(S,m){return d[m.s]-d[S.s]||S.f-m.f});t<n;++t){var k=i[t].s;if(d[k]>s)A+=x-(1<<y-d[k]),d[k]=s;else break}for(A>>=g;A>0;){var $=i[t].s;d[$]<s?A-=1<<s-d[$]++-1:++t}for(;t>=0&&A;--t){var b=i[t].s;d[b]==s&&(--d[b],++A)}y=s}return{t:new ee(d),l:y}},Jt=function(r,s,e){return r.s==-1?Math.max(Jt(r.l,s,e+1),Jt(r.r,s,e+1)):s[r.s]=e},Ys=function(r){for(var s=r.length;s&&!r[--s];);for(var e=new ae(++s),t=0,n=r[0],i=1,o=function(l){e[t++]=l},a=1;a<=s;++a)if(r[a]==n&&a!=s)++i;else{if(!n&&i>2){for(;i>138;i-=138)o(32754);i>2&&(o(i>10?i-11<<5|28690:i-3<<5|12305),i=0)}else if(i>3){for(o(n),--i;i>6;i-=6)o(8304);i>2&&(o(i-3<<5|8208),i=0)}for(;i--;)o(n);i=1,n=r[a]}return{c:e.subarray(0,t),n:s}},ot=function(r,s){for(var e=0,t=0;t<s.length;++t)e+=r[t]*s[t];return e},rn=function(r,s,e){var t=e.length,n=Qt(s+2);r[n]=t&255,r[n+1]=t>>8,r[n+2]=r[n]^255,r[n+3]=r[n+1]^255;for(var i=0;i<t;++i)r[n+i+4]=e[i];return(n+4+t)*8},Qs=function(r,s,e,t,n,i,o,a,l,h,c){$e(s,c++,e),++n[256];for(var p=Vt(n,15),u=p.t,d=p.l,y=Vt(i,15),A=y.t,g=y.l,x=Ys(u),k=x.c,$=x.n,b=Ys(A),E=b.c,S=b.n,m=new ae(19),w=0;w<k.length;++w)++m[k[w]&31];for(var w=0;w<E.length;++w)++m[E[w]&31];for(var M=Vt(m,7),z=M.t,T=M.l,O=19;O>4&&!z[Gt[O-1]];--O);var F=h+5<<3,j=ot(n,Me)+ot(i,at)+o,q=ot(n,u)+ot(i,A)+o+14+3*O+ot(m,z)+2*m[16]+3*m[17]+7*m[18];if(l>=0&&F<=j&&F<=q)return rn(s,c,r.subarray(l,l+h));var _,H,L,P;if($e(s,c,1+(q<j)),c+=2,q<j){_=ge(u,d,0),H=u,L=ge(A,g,0),P=A;var ce=ge(z,T,0);$e(s,c,$-257),$e(s,c+5,S-1),$e(s,c+10,O-4),c+=14;for(var w=0;w<O;++w)$e(s,c+3*w,z[Gt[w]]);c+=3*O;for(var Q=[k,E],be=0;be<2;++be)for(var re=Q[be],w=0;w<re.length;++w){var oe=re[w]&31;$e(s,c,ce[oe]),c+=z[oe],oe>15&&($e(s,c,re[w]>>5&127),c+=re[w]>>12)}}else _=hi,H=Me,L=pi,P=at;for(var w=0;w<a;++w){var G=t[w];if(G>255){var oe=G>>18&31;rt(s,c,_[oe+257]),c+=H[oe+257],oe>7&&($e(s,c,G>>23&31),c+=$t[oe]);var fe=G&31;rt(s,c,L[fe]),c+=P[fe],fe>3&&(rt(s,c,G>>5&8191),c+=kt[fe])}else rt(s,c,_[G]),c+=H[G]}return rt(s,c,_[256]),c+H[256]},gi=new Yt([65540,131080,131088,131104,262176,1048704,1048832,2114560,2117632]),on=new ee(0),vi=function(r,s,e,t,n,i){var o=i.z||r.length,a=new ee(t+o+5*(1+Math.ceil(o/7e3))+n),l=a.subarray(t,a.length-n),h=i.l,c=(i.r||0)&7;if(s){c&&(l[0]=i.r>>3);for(var p=gi[s-1],u=p>>13,d=p&8191,y=(1<<e)-1,A=i.p||new ae(32768),g=i.h||new ae(y+1),x=Math.ceil(e/3),k=2*x,$=function(Tt){return(r[Tt]^r[Tt+1]<<x^r[Tt+2]<<k)&y},b=new Yt(25e3),E=new ae(288),S=new ae(32),m=0,w=0,M=i.i||0,z=0,T=i.w||0,O=0;M+2<o;++M){var F=$(M),j=M&32767,q=g[F];if(A[j]=q,g[F]=j,T<=M){var _=o-M;if((m>7e3||z>24576)&&(_>423||!h)){c=Qs(r,l,0,b,E,S,w,z,O,M-O,c),z=m=w=0,O=M;for(var H=0;H<286;++H)E[H]=0;for(var H=0;H<30;++H)S[H]=0}var L=2,P=0,ce=d,Q=j-q&32767;if(_>2&&F==$(M-Q))for(var be=Math.min(u,_)-1,re=Math.min(32767,M),oe=Math.min(258,_);Q<=re&&--ce&&j!=q;){if(r[M+L]==r[M+L-Q]){for(var G=0;G<oe&&r[M+G]==r[M+G-Q];++G);if(G>L){if(L=G,P=Q,G>be)break;for(var fe=Math.min(Q,G-2),Ue=0,H=0;H<fe;++H){var He=M-Q+H&32767,mt=A[He],gt=He-mt&32767;gt>Ue&&(Ue=gt,q=He)}}}j=q,q=A[j],Q+=j-q&32767}if(P){b[z++]=268435456|Kt[L]<<18|Js[P];var Je=Kt[L]&31,Ye=Js[P]&31;w+=$t[Je]+kt[Ye],++E[257+Je],++S[Ye],T=M+L,++m}else b[z++]=r[M],++E[r[M]]}}for(M=Math.max(M,T);M<o;++M)b[z++]=r[M],++E[r[M]];c=Qs(r,l,h,b,E,S,w,z,O,M-O,c),h||(i.r=c&7|l[c/8|0]<<3,c-=7,i.h=g,i.p=A,i.i=M,i.w=T)}else{for(var M=i.w||0;M<o+h;M+=65535){var Be=M+65535;Be>=o&&(l[c/8|0]=h,Be=o),c=rn(l,c+1,r.subarray(M,Be))}i.i=o}return nn(a,0,t+Qt(c)+n)};var bi=function(r,s,e,t,n){if(!n&&(n={l:1},s.dictionary)){var i=s.dictionary.subarray(-32768),o=new ee(i.length+r.length);o.set(i),o.set(r,i.length),r=o,n.w=i.length}return vi(r,s.level==null?6:s.level,s.mem==null?n.l?Math.ceil(Math.max(8,Math.min(13,Math.log(r.length)))*1.5):20:12+s.mem,e,t,n)};function an(r,s){return bi(r,s||{},0,0)}function At(r,s){return mi(r,{i:2},s&&s.out,s&&s.dictionary)}var wi=typeof TextDecoder<"u"&&new TextDecoder,xi=0;try{wi.decode(on,{stream:!0}),xi=1}catch{}var I=class extends Error{constructor(e,t){super(`at byte ${e}: ${t}`);this.offset=e;this.name="RecordingError"}},ln="gemurec",cn=1,hn=2,_e=32,Xt=24,yi=65535,Mt=65534,un=64<<20,$i=1<<20,ki=1<<22,pn=65536,Ai=4*258,Mi=512<<20,Ei={u8:Uint8Array,u16:Uint16Array,u32:Uint32Array,i8:Int8Array,i16:Int16Array,i32:Int32Array},es={u8:1,u16:2,u32:4,u64:8,i8:1,i16:2,i32:4,i64:8,text:8};var Si=(()=>{let r=new Uint32Array(256);for(let s=0;s<256;s++){let e=s;for(let t=0;t<8;t++)e=e&1?3988292384^e>>>1:e>>>1;r[s]=e}return r})();function dn(...r){let s=4294967295;for(let e of r)for(let t=0;t<e.length;t++)s=Si[(s^e[t])&255]^s>>>8;return(s^4294967295)>>>0}var Et=class{constructor(s,e){this.name=s;this.file=e;this.columns=[];this.rows=0;this.blocks=[];this.decoded=new Map}numbers(s){return this.column(s,e=>e!=="text"&&es[e]<=4,()=>new Uint8Array(this.rows))}wide(s){return this.column(s,e=>e==="u64"||e==="i64",()=>({lo:new Uint32Array(this.rows),hi:new Uint32Array(this.rows)}))}counts(s){let{lo:e,hi:t}=this.wide(s),n=new Float64Array(e.length);for(let i=0;i<n.length;i++){if(t[i]>=1<<21)throw new I(this.blocks[0].offset,`column ${s} of table ${this.name} has a number that is too large`);n[i]=t[i]*2**32+e[i]}return n}texts(s){return this.column(s,e=>e==="text",()=>new Array(this.rows).fill(""))}column(s,e,t){let n=this.decoded.get(s),i=this.columns.findIndex(a=>a.name===s),o=i<0?void 0:this.columns[i].type;if(o!==void 0&&!e(o))throw new I(this.blocks[0]?.offset??0,`column ${s} of table ${this.name} has the type ${o}, which does not fit its use`);return n===void 0&&(this.file.reserve(this.rows*(o?es[o]:8)),n=o===void 0?t():this.decode(i,o),this.decoded.set(s,n)),n}decode(s,e){if(e==="text"){let n=[];for(let i of this.blocks)this.file.decodeTexts(i,s,n);return n}let t={lo:new Uint32Array(this.rows),hi:new Uint32Array(e==="u64"||e==="i64"?this.rows:0)};for(let n of this.blocks)this.file.decodeNumbers(n,s,t);return e==="u64"||e==="i64"?t:e==="u32"?t.lo:new Ei[e](t.lo)}},Ee=class{constructor(s){this.bytes=s;this.tables=new Map;this.reserved=0;if(this.view=new DataView(s.buffer,s.byteOffset,s.byteLength),s.length<8||this.ascii(0,7)!==ln)throw new I(0,"this is not a recording of gemu");if(this.version=s[7],this.version<cn||this.version>hn)throw new I(0,`the recording has format version ${this.version}; this page reads versions ${cn} to ${hn}`);let{complete:e,offsets:t}=this.readDirectory();this.complete=e;let n=t.map(o=>this.readHeader(o));if(n.length===0)throw new I(8,"the recording ends before its first block");this.readSchema(n[0]);let i=[...this.tables.values()];for(let o of n.slice(1)){let a=i[o.table];if(a===void 0)throw new I(o.offset,`a block belongs to the unknown table ${o.table}`);if(o.first!==a.rows||o.columns.length!==a.columns.length)throw new I(o.offset,`a block of the table ${a.name} does not continue the blocks before it`);a.rows+=o.rows,a.blocks.push(o)}}table(s){return this.tables.get(s)??new Et(s,this)}names(s,e){let t=this.table("enumerations");if(t.rows>65536)throw new I(t.blocks[0].offset,"the table enumerations has too many rows");let[n,i,o,a]=[t.texts("table"),t.texts("column"),t.numbers("value"),t.texts("name")],l=[];for(let h=0;h<n.length;h++)n[h]===s&&i[h]===e&&(l[o[h]]=a[h]);return l}reserve(s){if(this.reserved+=s,this.reserved>Mi)throw new I(0,"the recording is too large for the page: record fewer events (--max-events), or a part (--cta, --warps)")}ascii(s,e){return String.fromCharCode(...this.bytes.subarray(s,s+e))}count(s){let e=this.view.getUint32(s+4,!0);return e>=1<<21?1/0:e*2**32+this.view.getUint32(s,!0)}readDirectory(){let s=this.bytes.length;if(s>=24&&this.ascii(s-8,8)===ln+`
`){let t=this.count(s-16),n=this.readHeader(t);if(n.table!==Mt||n.columns.length!==4)throw new I(t,"the directory is missing at the place that the end of the file states");if(n.rows>s/_e)throw new I(t,"the directory has more blocks than the file has room for");let i={lo:new Uint32Array(n.rows),hi:new Uint32Array(n.rows)};return this.decodeNumbers(n,0,i),{complete:!0,offsets:Array.from(i.lo,(o,a)=>i.hi[a]*2**32+o)}}let e=[];for(let t=8;;){let n;try{n=this.readHeader(t)}catch{break}if(n.table===Mt)break;e.push(t),t=n.end}return{complete:!1,offsets:e}}readHeader(s){let{view:e,bytes:t}=this;if(!(s<=t.length-_e))throw new I(Math.min(s,t.length),"the file ends in the header of a block");let n=e.getUint32(s+4,!0),i=e.getUint16(s+10,!0),o={offset:s,table:e.getUint16(s+8,!0),rows:e.getUint32(s+12,!0),first:this.count(s+16),columns:[],end:s+_e+n};if(this.ascii(s,4)!=="gblk")throw new I(s,"no block header at this place");if(n>un||o.end>t.length)throw new I(s,"the file ends in a block");if(o.rows===0)throw new I(s,"a block has no rows");if(o.rows>(o.table===Mt?ki:$i)||i*Xt>n)throw new I(s,"a block has more rows or columns than its size allows");let a=s+_e+i*Xt;if(dn(t.subarray(s,s+24),t.subarray(s+_e,a))!==e.getUint32(s+24,!0))throw new I(s,"the header of a block is damaged: its checksum is wrong");for(let l=0;l<i;l++){let h=s+_e+l*Xt,c={encoding:t[h],width:t[h+1],flags:e.getUint16(h+2,!0),stored:e.getUint32(h+4,!0),plain:e.getUint32(h+8,!0),sum:e.getUint32(h+12,!0),baseLo:e.getUint32(h+16,!0),baseHi:e.getUint32(h+20,!0),at:a};if(a+c.stored>o.end||c.plain>un)throw new I(s,"a column is longer than its block");o.columns.push(c),a+=Math.ceil(c.stored/8)*8}return o}readSchema(s){if(s.table!==yi||s.columns.length!==3)throw new I(s.offset,"the first block must list the columns of the tables");if(s.rows>pn)throw new I(s.offset,`${s.rows} columns; a recording has at most ${pn}`);let[e,t,n]=[0,1,2].map(i=>{let o=[];return this.decodeTexts(s,i,o),o});e.forEach((i,o)=>{let a=this.tables.get(i);if(a===void 0&&this.tables.set(i,a=new Et(i,this)),!(n[o]in es))throw new I(s.offset,`column ${t[o]} of table ${i} has the unknown type ${JSON.stringify(n[o])}`);a.columns.push({name:t[o],type:n[o]})})}inflated(s,e,t){let n=a=>{throw new I(s.offset,a)};e.flags&-2&&n(`unknown flags ${e.flags} of a column`),e.encoding>3&&n(`unknown encoding ${e.encoding} of a column`),e.encoding===3!==t&&n("a column has values of another type than the schema states"),e.plain>Ai*e.stored&&n("a column is larger than its stored bytes can hold"),t?e.plain<4*s.rows&&n("the size of a column of texts is wrong"):(e.encoding===0?e.plain!==0:![1,2,4,8].includes(e.width)||e.plain!==s.rows*e.width)&&n("the size of a column does not match its number of values");let i=this.bytes.subarray(e.at,e.at+e.stored);if(dn(i)!==e.sum&&n("a column is damaged: its checksum is wrong"),!(e.flags&1))return e.stored!==e.plain&&n("the stored size of an uncompressed column differs from its size"),i;let o;try{o=At(i,{out:new Uint8Array(e.plain+1)})}catch(a){return n(`a column cannot be decompressed: ${a.message}`)}return o.length!==e.plain&&n("a column has another size after decompression than its descriptor states"),o}decodeNumbers(s,e,t){let n=s.columns[e],i=this.inflated(s,n,!1),o=new DataView(i.buffer,i.byteOffset,i.byteLength),a=s.table===Mt?0:s.first,l=t.hi.length>0,[h,c]=[n.baseLo,n.baseHi];if(n.encoding===0){t.lo.fill(h,a,a+s.rows),l&&t.hi.fill(c,a,a+s.rows);return}let p=n.encoding===2;for(let u=0,d=0;u<s.rows;u++,d+=n.width){let[y,A]=[0,0];switch(n.width){case 1:y=p?o.getInt8(d):i[d];break;case 2:y=p?o.getInt16(d,!0):o.getUint16(d,!0);break;default:y=p?o.getInt32(d,!0):o.getUint32(d,!0)}n.width===8?(A=o.getUint32(d+4,!0),y>>>=0):y<0&&(A=4294967295,y>>>=0);let g=(p?h:n.baseLo)+y,x=(p?c:n.baseHi)+A+(g>4294967295?1:0)>>>0;t.lo[a+u]=g,l&&(t.hi[a+u]=x),p&&([h,c]=[g>>>0,x])}}decodeTexts(s,e,t){let n=s.columns[e];this.reserve(n.plain);let i=this.inflated(s,n,!0),o=new DataView(i.buffer,i.byteOffset,i.byteLength),a=new TextDecoder,l=4*s.rows;for(let h=0;h<s.rows;h++){let c=o.getUint32(4*h,!0);if(c>i.length-l)throw new I(s.offset,"a text is longer than its column");t.push(a.decode(i.subarray(l,l+c))),l+=c}}};var Li=3,Ti={class:"none",base:0n,stride:0n,lanes:0,few:!0};function mn(r,s,e){let t=J(r);if(t.length===0)return Ti;let n=t.map(e),i=t.length<Li,o=Math.min(s,64);if(n.every(u=>u===n[0]))return{class:"uniform",base:n[0],stride:0n,lanes:t.length,few:i};let a={class:"generic",base:0n,stride:0n,lanes:t.length,few:i};if(s===1||s>64)return a;let l=BigInt(t[1]-t[0]),h=BigInt.asIntN(o,n[1]-n[0]);if(h%l!==0n)return a;let c=h/l,p=BigInt.asUintN(o,n[0]-c*BigInt(t[0]));for(let u=1;u<t.length;u++)if(BigInt.asUintN(o,p+c*BigInt(t[u]))!==n[u])return a;return{class:"affine",base:p,stride:c,lanes:t.length,few:i}}var ts=new DataView(new ArrayBuffer(8));function Ci(r,s){if(ts.setBigUint64(0,r,!0),s===32)return fn(ts.getFloat32(0,!0),7);if(s===64)return fn(ts.getFloat64(0,!0),12)}function fn(r,s){return Number.isNaN(r)?"NaN":Number.isFinite(r)?String(Number(r.toPrecision(s))):r<0?"-∞":"∞"}var zi=(r,s)=>s===64&&r>=0x1000000n;function lt(r,s,e){return e||r.launch.isAddress(s)&&!s.type.startsWith(".f")?16:10}function De(r,s,e,t=10){if(e===1)return r?"1":"0";if(t===16)return qe(r);if(s.startsWith(".f"))return Ci(r,e)??qe(r);if(e>64||zi(r,e)&&!s.startsWith(".s"))return qe(r);let n=BigInt.asIntN(e,r);return s.startsWith(".s")||s.startsWith(".b")&&n<0n&&n>-65536n?n.toString().replace("-","−"):r.toString()}function qe(r){return"0x"+r.toString(16)}function gn(r,s,e,t=10){if(r.class==="uniform")return De(r.base,s,e,t);if(r.class!=="affine")return"";let n=s.startsWith(".f")?qe(r.base):De(r.base,s,e,t),i=a=>t===16&&a>9n?qe(a):String(a),o=r.stride<0n?`− ${i(-r.stride)}`:`+ ${i(r.stride)}`;return`${r.base===0n?r.stride<0n?"0 "+o:i(r.stride):`${n} ${o}`} · lane`}var ns=class{constructor(s,e="event"){this.events=s.counts(e)}first(s){let[e,t]=[0,this.events.length];for(;e<t;){let n=e+t>>>1;this.events[n]<s?e=n+1:t=n}return e}*rows(s){for(let e=this.first(s);e<this.events.length&&this.events[e]===s;e++)yield e}event(s){return this.events[s]}get length(){return this.events.length}},vn=4e6;function Fe(r){let s=r.table("launches").rows;if(s>1e4)throw new I(0,`the recording has ${s} launches; the page shows at most 10000: record fewer (--only-kernel)`);return Ri(r.table("events").numbers("launch"),s).map((t,n)=>new is(r,n,t))}function Ri(r,s){let e=new Uint32Array(s);for(let i=0;i<r.length;i++)r[i]<s&&e[r[i]]++;let t=Array.from(e,i=>new Uint32Array(i)),n=new Uint32Array(s);for(let i=0;i<r.length;i++)r[i]<s&&(t[r[i]][n[r[i]]++]=i);return t}var ss=r=>r<26?String.fromCharCode(65+r):r<36?String(r-26):"#";function Ii(r,s,e){if(!s)return e?"done":"stopped";let t=`: trap in kernel ${r}: `,n=s.indexOf(t);if(n<0)return e?"trap":"stopped";let i=s.slice(n+t.length);return/^(deadlock\b|a CTA waits for a CTA that cannot begin)/.test(i)?"deadlock":/^(step|time) limit reached/.test(i)?"stopped":"trap"}var is=class{constructor(s,e,t){this.recording=s;this.row=e;this.instructions=[];this.registers=[];this.blocks=[];this.sources=[];this.warps=[];this.firstRegister=new Map;this.starts=[];this.models=new Map;this.index=new Map;let n=s,i=n.table("launches"),o=y=>Number(i.numbers(y)[e]);if(this.kernel=i.texts("kernel")[e],this.file=i.texts("file")[e],this.grid=[o("grid_x"),o("grid_y"),o("grid_z")],this.block=[o("block_x"),o("block_y"),o("block_z")],this.warpSize=o("warp_size")||32,this.warpSize>64)throw new I(0,`launch ${e} has warps of ${this.warpSize} lanes; want at most 64`);this.policy=i.texts("reconverge")[e],this.firstInstruction=o("first_instruction");let a=new Set((n.table("recording").texts("contents")[0]??"").split(/,\s*/));this.has={results:a.has("results"),accesses:a.has("accesses"),stack:a.has("stack")};let l=n.table("ends"),h=Array.from(l.numbers("launch")).indexOf(e);this.error=h<0?"":l.texts("error")[h],this.complete=h>=0&&l.numbers("complete")[h]===1,this.outcome=Ii(this.kernel,this.error,this.complete),this.readProgram(o("instructions"),o("first_block"),o("blocks"),o("first_source"),o("sources"));let c=n.table("events");if(c.rows>vn)throw new I(0,`the recording has ${c.rows} events; the page shows at most ${vn}: record fewer (--max-events)`);let[p,u]=[c.wide("active"),c.wide("lanes")];this.columns={kind:c.numbers("kind"),instruction:c.numbers("instruction"),activeLo:p.lo,activeHi:p.hi,lanesLo:u.lo,lanesHi:u.hi,depth:c.numbers("depth"),reconverge:c.numbers("reconverge")};let d=n.table("operands");this.operands={instruction:d.numbers("instruction"),register:d.numbers("register"),writes:d.numbers("writes")},this.order=this.groupByWarp(c,t)}readProgram(s,e,t,n,i){let o=this.recording,a=o.table("instructions"),[l,h,c,p,u,d]=[a.texts("function"),a.numbers("line"),a.texts("class"),a.texts("text"),a.texts("source_file"),a.numbers("source_line")],y=s||(this.firstInstruction===0&&o.table("launches").rows===1?a.rows:0);if(this.firstInstruction+y>a.rows)throw new I(0,`launch ${this.row} has instructions that the recording lacks`);let A=new Set;for(let L=0;L<y;L++){let P=this.firstInstruction+L;A.add(l[P]),this.instructions.push({index:L,function:l[P],line:h[P],class:c[P],text:p[P],sourceFile:u[P],sourceLine:d[P],block:-1})}let g=o.table("registers"),[x,k,$,b]=[g.texts("function"),g.texts("name"),g.texts("type"),g.numbers("bits")];for(let L=0;L<g.rows;L++)A.has(x[L])&&(this.firstRegister.set(L,this.registers.length),this.registers.push({index:this.registers.length,function:x[L],name:k[L],type:$[L],bits:b[L]||32}));let E=o.table("blocks");if(e+t>E.rows)throw new I(0,`launch ${this.row} has basic blocks that the recording lacks`);let[S,m,w,M,z]=[E.texts("function"),E.texts("labels"),E.numbers("first"),E.numbers("instructions"),E.numbers("post_dominator")];for(let L=0;L<t;L++){let P=e+L,ce={index:L,function:S[P],labels:m[P]?m[P].split(" "):[],first:w[P]-this.firstInstruction,instructions:M[P],letter:"",next:[],postDominator:z[P]<0?-1:z[P]-e};if(ce.first<0||ce.first+ce.instructions>y)throw new I(0,`basic block ${P} has instructions that the launch lacks`);this.blocks.push(ce);for(let Q=0;Q<ce.instructions;Q++)this.instructions[ce.first+Q].block=L}let T=o.table("edges"),[O,F]=[T.numbers("from"),T.numbers("to")];for(let L=0;L<T.rows;L++){let P=this.blocks[O[L]-e];P&&P.next.push(F[L]<0?-1:F[L]-e)}let j=o.table("sources");if(n+i>j.rows)throw new I(0,`launch ${this.row} has texts that the recording lacks`);let[q,_,H]=[j.numbers("kind"),j.texts("name"),j.texts("text")];for(let L=n;L<n+i;L++)this.sources.push({kind:q[L]===0?"ptx":"compiled",name:_[L],text:H[L]})}letterBlocks(){let s=new Set;for(let t of this.blocks){let n=t.labels.find(i=>/^[A-Za-z]$/.test(i));n&&t.instructions>0&&s.add(t.letter=n)}let e=0;for(let t of this.blocks)if(!(t.letter||t.instructions===0)){for(;s.has(ss(e))&&ss(e)!=="#";)e++;t.letter=ss(e++)}}findBlocks(){let s=new Set,e=new Map,t=this.recording.table("groups"),[n,i,o]=[t.numbers("instruction"),this.byEvent("groups"),this.firstInstruction],a=new Set(this.order);for(let l=0;l<t.rows;l++){if(!a.has(i.event(l)))continue;let h=this.columns.instruction[i.event(l)]-o,c=n[l]<0?-1:n[l]-o;e.has(h)||e.set(h,new Set),e.get(h).add(c),s.add(h+1),s.add(c)}this.instructions.forEach((l,h)=>{let c=this.instructions[h-1];(!c||c.function!==l.function||s.has(h)||/^(@!?%\S+\s+)?(bra|brx|ret|exit|trap)\b/.test(c.text))&&this.blocks.push({index:this.blocks.length,function:l.function,labels:[],first:h,instructions:0,letter:"",next:[],postDominator:-1});let p=this.blocks[this.blocks.length-1];p.instructions++,l.block=p.index});for(let l of this.blocks){let h=l.first+l.instructions-1,c=this.instructions[h].text,p=e.get(h)??new Set(/^(bra|brx|ret|exit|trap)\b/.test(c)||!this.instructions[h+1]?[]:[h+1]);for(let u of p)l.next.push(u<0?-1:this.instructions[u].block);/^(@!?%\S+\s+)?(ret|exit)\b/.test(c)&&!l.next.includes(-1)&&l.next.push(-1)}}groupByWarp(s,e){let[t,n,i]=[s.numbers("cta"),s.numbers("warp"),s.numbers("kind")],o=this.exitsByBranch(s,e),a=new Map,l=new Int32Array(e.length).fill(-1),h=[],c=-1,p=-1;for(let g=0;g<e.length;g++){let x=e[g];if(n[x]<0||o.has(x))continue;let k=t[x]*2048+n[x];if(k!==p){let b=a.get(k);b===void 0&&(b=this.warps.length,a.set(k,b),this.warps.push({cta:t[x],warp:n[x],steps:0,lanes:D}),h.push(0)),[c,p]=[b,k]}l[g]=c,h[c]++;let $=this.warps[c];i[x]===0&&$.steps++,i[x]===14&&(this.trap??={cta:t[x],warp:n[x]}),$.lanes=Z($.lanes,V(this.columns.activeLo[x],this.columns.activeHi[x]))}let u=this.warps.map((g,x)=>({w:g,i:x})).sort((g,x)=>g.w.cta-x.w.cta||g.w.warp-x.w.warp),d=new Float64Array(this.warps.length),y=0;u.forEach(({w:g,i:x},k)=>{this.warps[k]=g,this.starts.push(y),d[x]=y,y+=h[x]}),this.starts.push(y);let A=new Uint32Array(y);for(let g=0;g<e.length;g++)l[g]>=0&&(A[d[l[g]]++]=e[g]);return A}exitsByBranch(s,e){let[t,n,i,o]=[s.numbers("cta"),s.numbers("warp"),s.numbers("kind"),s.wide("step")],a=this.columns,l=new Set,h=-1,c=new Map;for(let p=e.length-1;p>=0;p--){let u=e[p];if(n[u]<0)continue;let d=t[u]*2048+n[u];if(i[u]===0){let y=c.get(d)??-1;h>=0&&o.lo[u]===o.lo[h]&&o.hi[u]===o.hi[h]&&y>=0&&i[y]===8&&a.lanesLo[y]===a.activeLo[u]&&a.lanesHi[y]===a.activeHi[u]?l.add(u):h=u}c.set(d,u)}return l}byEvent(s){let e=this.index.get(s);return e||this.index.set(s,e=new ns(this.recording.table(s),s==="stores"?"access":"event")),e}results(){if(!this.resultColumns){let[s,e]=[this.recording.table("results"),this.recording.table("values")];this.resultColumns={lanes:s.wide("lanes"),register:s.numbers("register"),cls:s.numbers("class"),base:s.wide("base"),high:s.wide("high"),stride:s.wide("stride"),values:s.wide("values"),low:e.wide("low"),top:e.wide("high"),byEvent:this.byEvent("results")}}return this.resultColumns}instructionOfRow(s){if(s<0)return-1;let e=s-this.firstInstruction;if(!(e<this.instructions.length&&e>=0))throw new I(0,`an event names instruction ${s}, which the launch lacks`);return e}findWarp(s,e){return this.warps.findIndex(t=>t.cta===s&&t.warp===e)}warp(s){let e=this.models.get(s);if(!e){if(!this.warps[s])throw new I(0,"the recording has no events of a warp");this.blocks.length===0&&this.findBlocks(),this.models.size===0&&this.letterBlocks(),this.models.size>=8&&this.models.delete(this.models.keys().next().value),this.models.set(s,e=new rs(this,this.warps[s],this.order.subarray(this.starts[s],this.starts[s+1])))}return e}isAddress(s){if(!this.addresses){this.addresses=new Set;for(let e of this.instructions)for(let t of e.text.matchAll(/\[\s*(%[\w$]+)/g))this.addresses.add(`${e.function} ${t[1]}`)}return this.addresses.has(`${s.function} ${s.name}`)}operandsOf(s,e){let{instruction:t,register:n,writes:i}=this.operands,o=this.firstInstruction+s,[a,l]=[0,t.length];for(;a<l;){let c=a+l>>>1;t[c]<o?a=c+1:l=c}let h=[];for(;a<t.length&&t[a]===o;a++){let c=this.firstRegister.get(n[a]);c!==void 0&&i[a]===1===e&&!h.includes(c)&&h.push(c)}return h}ctaName(s){let[e,t]=this.grid;return`(${s%e},${Math.floor(s/e)%t},${Math.floor(s/(e*t))})`}},Pi=["running","ready","blocked","point"],bn=64,Ui=24<<20,rs=class{constructor(s,e,t){this.launch=s;this.info=e;this.rows=t;this.stackEvents=[];this.snapshots=[];let n=s.columns,i=e.steps;this.steps=i,this.at=new Int32Array(i),this.instruction=new Int32Array(i),[this.activeLo,this.activeHi,this.lanesLo,this.lanesHi]=[0,0,0,0].map(()=>new Uint32Array(i)),[this.endedLo,this.endedHi]=[new Uint32Array(i+1),new Uint32Array(i+1)];let o=D,a=D,l=0;for(let u=0;u<t.length;u++){let d=t[u];switch(n.kind[d]){case 0:if(this.at[l]=u,this.instruction[l]=s.instructionOfRow(n.instruction[d]),this.instruction[l]<0)throw new I(0,"an instruction event has no instruction");this.activeLo[l]=n.activeLo[d],this.activeHi[l]=n.activeHi[d],this.lanesLo[l]=n.lanesLo[d],this.lanesHi[l]=n.lanesHi[d],this.endedLo[l]=a.lo,this.endedHi[l]=a.hi,l++,o=Z(o,V(n.activeLo[d],n.activeHi[d]));break;case 11:o=Z(o,V(n.activeLo[d],n.activeHi[d]));break;case 8:a=Z(a,V(n.lanesLo[d],n.lanesHi[d]));break;case 12:a=o}}this.endedLo[i]=a.lo,this.endedHi[i]=a.hi,this.lanes=o;let h=s.byEvent("stack"),c=0;for(let u=0;u<t.length&&h.length>0;u++){for(;c<h.length&&h.event(c)<t[u];)c++;c<h.length&&h.event(c)===t[u]&&this.stackEvents.push(t[u])}let p=s.registers.length*s.warpSize*9;this.interval=bn*Math.max(1,Math.ceil(p*(i/bn)/Ui))}active(s){return s<this.steps?V(this.activeLo[s],this.activeHi[s]):D}executing(s){return s<this.steps?V(this.lanesLo[s],this.lanesHi[s]):D}ended(s){return V(this.endedLo[s],this.endedHi[s])}instructionAt(s){return this.launch.instructions[this.instruction[s]]}line(s){return this.instructionAt(s)?.line??0}eventOf(s){return s<this.steps?this.rows[this.at[s]]:(this.rows[this.rows.length-1]??0)+1}stepAtEvent(s){let[e,t]=[0,this.steps];for(;e<t;){let n=e+t>>>1;this.rows[this.at[n]]<=s?e=n+1:t=n}return e===this.steps&&s>(this.rows[this.rows.length-1]??0)?this.steps:Math.max(0,e-1)}*after(s){for(let e=this.at[s]+1;e<(s+1<this.steps?this.at[s+1]:this.rows.length);e++)yield this.rows[e]}outcome(s){let e={groups:[],split:!1,reconverged:D,waiting:D,barrier:-1,woken:D,ended:D,called:"",returned:!1,trap:""};if(s>=this.steps)return e;let t=this.launch.columns,n=this.launch.recording;for(let i of this.after(s)){let o=V(t.lanesLo[i],t.lanesHi[i]);switch(t.kind[i]){case 1:case 2:e.groups=this.groupsOf(i),e.split||=t.kind[i]===2;break;case 3:e.reconverged=o;break;case 4:e.waiting=Z(e.waiting,o),e.barrier=this.barrierOf(i);break;case 5:e.woken=Z(e.woken,o);break;case 8:e.ended=Z(e.ended,o);break;case 6:for(let a of this.launch.byEvent("calls").rows(i))e.called=n.table("calls").texts("function")[a];break;case 7:e.returned=!0;break;case 14:for(let a of this.launch.byEvent("traps").rows(i))e.trap=n.table("traps").texts("message")[a]}}return e}groupsOf(s){let e=this.launch.recording.table("groups"),[t,n]=[e.wide("lanes"),e.numbers("instruction")],i=[];for(let o of this.launch.byEvent("groups").rows(s))i.push({lanes:V(t.lo[o],t.hi[o]),instruction:this.launch.instructionOfRow(n[o])});return i}barrierOf(s){let e=this.launch.recording.table("waits").numbers("barrier");for(let t of this.launch.byEvent("waits").rows(s))return e[t];return-1}splits(s){let e=this.launch.columns;if(s>=this.steps)return!1;for(let t of this.after(s))if(e.kind[t]===2)return!0;return!1}branches(s){return/^(@\S+\s+)?(bra|brx)\b/.test(this.instructionAt(s)?.text??"")}reconverges(s){let e=this.launch.columns;if(s>=this.steps)return!1;for(let t of this.after(s))if(e.kind[t]===3)return!0;return!1}turningPoints(){if(!this.turns){let s=[];for(let e=0;e<this.steps;e++)(e+1<this.steps&&(this.activeLo[e]!==this.activeLo[e+1]||this.activeHi[e]!==this.activeHi[e+1])||this.splits(e)||this.reconverges(e))&&s.push(e);this.turns=Uint32Array.from(s)}return this.turns}asksAt(s){return s+1>=this.steps?!1:he(this.active(s),this.active(s+1))?this.branches(s)&&this.instructionAt(s).text.startsWith("@"):!0}stackAt(s){let e=this.eventOf(s),[t,n]=[0,this.stackEvents.length];for(;t<n;){let u=t+n>>>1;this.stackEvents[u]<=e?t=u+1:n=u}if(t===0)return[];let i=this.launch.recording.table("stack"),[o,a,l,h,c]=[i.numbers("kind"),i.wide("lanes"),i.wide("arrived"),i.numbers("instruction"),i.numbers("depth")],p=[];for(let u of this.launch.byEvent("stack").rows(this.stackEvents[t-1])){let d=Pi[o[u]]??"ready";p.push({kind:d,lanes:V(a.lo[u],a.hi[u]),arrived:V(l.lo[u],l.hi[u]),instruction:d==="running"&&s<this.steps?this.instruction[s]:this.launch.instructionOfRow(h[u]),depth:c[u]})}return Hi(p)}state(s){if(s=Math.max(0,Math.min(s,this.steps)),this.stateCache?.step===s)return this.stateCache;let e=this.launch.warpSize,t=s===this.steps,[n,i,o]=[this.active(s),this.executing(s),this.ended(s)],a=this.stackAt(s),l=t?-1:this.instruction[s],h=[],c=new Int8Array(e).fill(-1),p=($,b,E,S=-1,m=D,w=-1)=>{let M=h.findIndex(z=>z.reason===b&&z.instruction===E&&z.point===S&&z.barrier===w);M<0&&(M=h.push({reason:b,lanes:D,instruction:E,point:S,missing:m,barrier:w})-1),h[M].lanes=Z(h[M].lanes,Ne([$])),c[$]=M},u=B(B(this.lanes,o),n),d=this.nextInstructions(s,u),y=this.waitsAt(s,u);for(let $=0;$<e;$++)if(R(this.lanes,$))if(R(n,$))p($,R(i,$)||this.branches(s)?"runs":"masked",l);else if(R(o,$))p($,"ended",-1);else if(y[$]!==void 0){let b=y[$];p($,b.barrier>=0?"barrier":"collective",b.instruction,-1,D,b.barrier)}else{let b=a.find(m=>m.kind==="point"&&R(m.arrived,$)),E=a.find(m=>(m.kind==="ready"||m.kind==="blocked")&&R(m.lanes,$)),S=d[$]>=0?d[$]:(E??b)?.instruction??-1;if(b)p($,"joins",b.instruction,b.instruction,B(xe(b.lanes,this.lanes),Z(b.arrived,o)));else if(E&&E.kind==="ready"){let m=a.find(w=>w.kind==="point"&&C(B(E.lanes,w.lanes)));p($,"ready",S,m?.instruction??-1,m?B(B(xe(m.lanes,this.lanes),o),E.lanes):D)}else E?p($,"collective",S):p($,t?"stuck":"waits",S)}let A=["runs","masked","ready","waits","stuck","joins","collective","barrier","ended"],g=h.map(($,b)=>({g:$,i:b})).sort(($,b)=>A.indexOf($.g.reason)-A.indexOf(b.g.reason)||$.g.instruction-b.g.instruction),x=new Map(g.map(({i:$},b)=>[$,b]));for(let $=0;$<e;$++)c[$]>=0&&(c[$]=x.get(c[$]));let k=t?0:this.launch.columns.depth[this.eventOf(s)];return this.stateCache={step:s,end:t,instruction:l,active:n,lanes:i,ended:o,groups:g.map($=>$.g),group:c,stack:a,depth:k}}nextInstructions(s,e){let t=new Int32Array(64).fill(-1),n=e;for(let o=s+1;o<this.steps&&!C(n);o++){let a=xe(n,this.active(o));if(!C(a)){for(let l of J(a))t[l]=this.instruction[o];n=B(n,a)}}for(let o=Math.min(s,this.steps)-1;o>=0&&!C(n);o--){let a=xe(n,this.active(o));if(C(a))continue;let l=this.outcome(o).groups;for(let h of J(a))t[h]=l.find(c=>R(c.lanes,h))?.instruction??Math.min(this.instruction[o]+1,this.launch.instructions.length-1);n=B(n,a)}let i=C(n)?-1:this.rows.findLast(o=>this.launch.columns.kind[o]===14)??-1;if(i>=0)for(let o of J(n))t[o]=this.launch.instructionOfRow(this.launch.columns.instruction[i]);return t}waitsAt(s,e){let t=[],n=this.launch.columns,i=e;for(let o=(s<this.steps?this.at[s]:this.rows.length)-1;o>=0&&!C(i);o--){let a=this.rows[o];switch(n.kind[a]){case 4:{let l=xe(i,V(n.lanesLo[a],n.lanesHi[a]));for(let h of J(l))t[h]={instruction:this.launch.instructionOfRow(n.instruction[a]),barrier:this.barrierOf(a)};i=B(i,l);break}case 5:i=B(i,V(n.lanesLo[a],n.lanesHi[a]));break;case 0:i=B(i,V(n.activeLo[a],n.activeHi[a]))}}return t}apply(s,e,t){let n=this.launch.warpSize,{lanes:i,register:o,cls:a,base:l,high:h,stride:c,values:p,low:u,top:d,byEvent:y}=this.launch.results(),A=u.lo.length;for(let g=y.first(t);g<y.length&&y.event(g)===t;g++){let x=this.launch.firstRegister.get(o[g]),k=a[g];if(x===void 0||k===4)continue;s.last[x]=e,s.shown[x]=void 0;let $=this.launch.registers[x].bits,b=p.lo[g];for(let E=0;E<n;E++){if(!((E<32?i.lo[g]>>>E:i.hi[g]>>>E-32)&1))continue;let S=x*n+E;s.defined[S]=1;let[m,w]=[l.lo[g],l.hi[g]];if(k===1)if($<=32)m=m+Math.imul(c.lo[g],E)>>>0;else{let M=BigInt.asUintN(64,(BigInt(w)<<32n|BigInt(m))+BigInt(E)*BigInt.asIntN(64,BigInt(c.hi[g])<<32n|BigInt(c.lo[g])));[m,w]=[Number(M&0xffffffffn),Number(M>>32n)]}else if(k===2){if(b>=A)throw new I(0,"a result names values that the recording lacks");[m,w]=[u.lo[b],u.hi[b]],$>64&&s.top.set(S,BigInt(d.hi[b])<<32n|BigInt(d.lo[b])),b++}else k===3?[m,w]=[(E<32?l.lo[g]>>>E:l.hi[g]>>>E-32)&1,0]:$>64&&s.top.set(S,BigInt(h.hi[g])<<32n|BigInt(h.lo[g]));s.lo[S]=$<32?m&(1<<$)-1:m,s.hi[S]=$>32?w:0}}}registersAfter(s){let e=this.launch.registers.length,t=this.launch.warpSize,n=h=>h?{lo:h.lo.slice(),hi:h.hi.slice(),top:new Map(h.top),defined:h.defined.slice(),last:h.last.slice(),shown:[]}:{lo:new Uint32Array(e*t),hi:new Uint32Array(e*t),top:new Map,defined:new Uint8Array(e*t),last:new Int32Array(e).fill(-1),shown:[]},i=Math.min(s,this.steps-1),o=Math.min(Math.floor(i/this.interval),this.snapshots.length),a=o*this.interval,l;this.latest&&this.latest.step>=a&&this.latest.step<=i?[l,a]=[this.latest.registers,this.latest.step+1]:l=n(o>0?this.snapshots[o-1]:void 0),this.latest=void 0;for(let h=a;h<=i;h++){h>0&&h%this.interval===0&&h/this.interval===this.snapshots.length+1&&this.snapshots.push(n(l)),h>0&&this.forget(l,h-1),this.apply(l,h,this.rows[this.at[h]]);for(let c of this.after(h))this.launch.columns.kind[c]!==1&&this.apply(l,h,c)}return this.latest={step:i,registers:l},l}forget(s,e){let{launch:t}=this,n=t.columns,i=t.warpSize;for(let o of this.after(e)){let a="";if(n.kind[o]===7)a=this.instructionAt(e).function;else if(n.kind[o]===6)for(let l of t.byEvent("calls").rows(o))a=t.recording.table("calls").texts("function")[l];if(a){for(let{index:l,function:h}of t.registers)if(h===a){s.shown[l]=void 0;for(let c=0;c<i;c++)((c<32?n.lanesLo[o]>>>c:n.lanesHi[o]>>>c-32)&1)===1&&(s.defined[l*i+c]=0)}}}}registers(s){let e=this.launch.warpSize,t=this.registersAfter(s),n=s<this.steps?this.instruction[s]:this.steps?this.instruction[this.steps-1]:-1,i=this.launch.instructions[n]?.function,o=s<this.steps?new Set(this.launch.operandsOf(n,!1)):new Set,a=s<this.steps?this.active(s):this.lanes,l=[];for(let h of this.launch.registers){let c=h.index;if(h.function!==i||t.last[c]<0&&!o.has(c))continue;let p=t.shown[c]?.values;if(!p){p=[];for(let d=0;d<e;d++){let y=c*e+d;p.push(t.defined[y]?(t.hi[y]?BigInt(t.hi[y])<<32n|BigInt(t.lo[y]):BigInt(t.lo[y]))|(h.bits>64?(t.top.get(y)??0n)<<64n:0n):void 0)}}let u=t.shown[c]?.structure;if(!u||!he(t.shown[c].seen,a)){let d=Ne(J(a).filter(y=>p[y]!==void 0));u=mn(d,h.bits,y=>p[y])}t.shown[c]={values:p,seen:a,structure:u},l.push({register:h,values:p,structure:u,written:t.last[c]===s&&s<this.steps,read:o.has(c),last:t.last[c]})}return l}accesses(s){if(s>=this.steps)return[];let e=this.launch.recording,t=e.table("accesses"),n=e.table("values").wide("low"),[i,o,a,l,h,c,p,u]=[t.numbers("kind"),t.numbers("space"),t.numbers("bytes"),t.wide("lanes"),t.numbers("class"),t.wide("base"),t.wide("stride"),t.wide("values")],d=["global","shared","local","param","const","texture","surface"],y=[];for(let A of this.launch.byEvent("accesses").rows(this.eventOf(s))){let g=V(l.lo[A],l.hi[A]),x=[],k=u.lo[A],[$,b]=[BigInt(c.hi[A])<<32n|BigInt(c.lo[A]),BigInt(p.hi[A])<<32n|BigInt(p.lo[A])];for(let w of J(g))if(h[A]===2){if(k>=n.lo.length)throw new I(0,"an access names addresses that the recording lacks");x[w]=BigInt(n.hi[k])<<32n|BigInt(n.lo[k]),k++}else x[w]=h[A]===1?BigInt.asUintN(64,$+b*BigInt(w)):$;let E=t.numbers("allocation")[A],S=e.table("allocations"),m=w=>BigInt(S.wide(w).hi[E])<<32n|BigInt(S.wide(w).lo[E]);y.push({kind:["load","store","atomic","zero"][i[A]]??"load",space:d[o[A]]??"global",bytes:a[A],lanes:g,addresses:x,class:["uniform","affine","generic","none","none"][h[A]]??"none",sectors:t.numbers("sectors")[A],passes:t.numbers("passes")[A],allocation:E>=0&&E<S.rows?{name:S.texts("name")[E],base:m("base"),size:m("size")}:void 0})}return y}counts(){if(this.sums)return this.sums;let[s,e,t,n]=[0,0,0,0],i=this.launch.columns;for(let o=0;o<this.steps;o++){let a=U(this.active(o));s+=a,a<U(this.lanes)&&n++}for(let o of this.rows)i.kind[o]===2&&e++,i.kind[o]===3&&t++;return this.sums={steps:this.steps,activeSum:s,used:this.steps?s/this.steps/this.launch.warpSize:0,splits:e,reconvergences:t,partial:n}}occurrence(s){let e=Math.min(s,this.steps-1),t=0;for(let i=0;i<e;i++)this.instruction[i]===this.instruction[e]&&t++;let n=this.instructionAt(e);return{line:n?.line??0,text:n?.text??"",n:t}}find(s){let t=(this.launch.instructions.filter(i=>i.text===s.text).sort((i,o)=>Math.abs(i.line-s.line)-Math.abs(o.line-s.line))[0]??this.launch.instructions.find(i=>i.line===s.line))?.index;if(t===void 0)return-1;let n=-1;for(let i=0,o=0;i<this.steps&&!(this.instruction[i]===t&&(n=i,o++===s.n));i++);return n}nextAtLine(s,e){let t=this.launch.instructions.map(e);for(let n=1;n<=this.steps;n++){let i=(s+n)%this.steps;if(t[this.instruction[i]])return i}return-1}};function Hi(r){let s=r.filter(t=>t.kind==="running"),e=r.filter(t=>t.kind==="ready"||t.kind==="blocked").reverse();for(let t of r.filter(n=>n.kind==="point")){let n=i=>C(B(i.lanes,t.lanes));s.push(...e.filter(n),t),e=e.filter(i=>!n(i))}return[...s,...e]}function xn(r,s){let e=wn.get(r);e||wn.set(r,e=new WeakMap);let t=e.get(s);if(t===void 0){t=0;let n=Math.max(r.steps,s.steps);for(;t<n&&!os(r,s,t);)t++;t===n&&(t=-1),e.set(s,t)}return t}var wn=new WeakMap;function os(r,s,e){return e>=r.steps||e>=s.steps?e<r.steps||e<s.steps:r.activeLo[e]!==s.activeLo[e]||r.activeHi[e]!==s.activeHi[e]||r.instructionAt(e).line!==s.instructionAt(e).line}var te=class extends me{constructor(){super(...arguments);this.step=0;this.src="";this.launch=0;this.cta=-1;this.warp=-1;this.failure=""}static{this.properties={model:{attribute:!1},step:{type:Number,reflect:!0},src:{},launch:{type:Number},cta:{type:Number},warp:{type:Number},failure:{state:!0}}}willUpdate(e){this.src&&["src","launch","cta","warp"].some(t=>e.has(t))&&this.load()}async load(){try{let t=(await Bi(this.src))[this.launch];if(!t)throw new Error(`${this.src} has no launch ${this.launch}`);let n=this.cta<0&&this.warp<0?0:t.findWarp(Math.max(this.cta,0),Math.max(this.warp,0));this.model=t.warp(n),this.failure=""}catch(e){this.failure=e.message}}send(e,t){this.dispatchEvent(new CustomEvent(e,{detail:t,bubbles:!0,composed:!0}))}go(e){let t=new CustomEvent("gemu-step",{detail:{step:e},bubbles:!0,composed:!0,cancelable:!0});this.dispatchEvent(t)&&(this.step=e)}},yn=new Map;function Bi(r){let s=yn.get(r);return s||(s=fetch(r).then(async e=>{if(!e.ok)throw new Error(`${r}: ${e.status} ${e.statusText}`);return Fe(new Ee(new Uint8Array(await e.arrayBuffer())))}),yn.set(r,s)),s}var as=8,se=K`
:host {
--paper: light-dark(#fbfaf7, #14181d);
--card: light-dark(#ffffff, #1b2027);
--well: light-dark(#f4f3ef, #161b21);
--ink: light-dark(#1d232b, #e4e8ec);
--soft: light-dark(#56616c, #9fabb7);
--line: light-dark(#dcdfe3, #333b45);
--edge: light-dark(#7b8691, #7d8996);
--u: light-dark(#1a66a8, #6cb2f2);
--a: light-dark(#14713a, #5fcf8a);
--g: light-dark(#a14606, #f0995a);
--d: light-dark(#7b3a9e, #d29df0);
--u-soft: light-dark(#e4eef8, #1c3247);
--a-soft: light-dark(#e1f3e7, #1a3726);
--g-soft: light-dark(#fbeadd, #43291a);
--d-soft: light-dark(#f2e6f8, #3a2547);
--on: light-dark(#ffffff, #10151a);
--accent: light-dark(#4338ca, #a5b4fc);
--accent-soft: light-dark(#eceafd, #262a4d);
--now: light-dark(#fff4cf, #3a3216);
--bad: light-dark(#b3261e, #ff8a80);
--bad-soft: light-dark(#fdecea, #3d1d1b);
--good: light-dark(#17803d, #5fcf8a);
--idle: light-dark(#e9eaec, #2b323a);
--b0: light-dark(#5b6673, #8d9aa8);
--b1: light-dark(#6a4cc0, #ab92fb);
--b2: light-dark(#a92b84, #ee82c8);
--b3: light-dark(#0b757e, #45c0c8);
--b4: light-dark(#7d6000, #d8b545);
--b5: light-dark(#b3263e, #ff8496);
--b6: light-dark(#75462a, #cf9d7b);
--b7: light-dark(#3d4a9e, #93a3f5);
--mono: ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace;
--sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
display: block;
color: var(--ink);
font: 15px/1.5 var(--sans);
}
:host([hidden]) {
display: none;
}
* {
box-sizing: border-box;
}
.hidden {
position: absolute;
width: 1px;
height: 1px;
overflow: hidden;
clip-path: inset(50%);
white-space: nowrap;
}
.soft {
color: var(--soft);
}
.mono {
font-family: var(--mono);
}
button,
select,
input,
summary {
font: inherit;
color: inherit;
}
button,
.button {
min-width: 32px;
min-height: 32px;
padding: 3px 10px;
border: 1px solid var(--line);
border-radius: 7px;
background: var(--card);
cursor: pointer;
font-size: 14px;
line-height: 1.4;
white-space: nowrap;
text-decoration: none;
}
button:hover:not(:disabled) {
border-color: var(--edge);
}
button:disabled {
opacity: 0.45;
cursor: default;
}
button[aria-pressed='true'],
button[aria-selected='true'] {
border-color: var(--accent);
background: var(--accent-soft);
color: var(--accent);
font-weight: 600;
}
button.primary {
background: var(--accent);
border-color: var(--accent);
color: var(--on);
font-weight: 600;
}
:focus-visible {
outline: 2px solid var(--accent);
outline-offset: 2px;
}
.chip {
display: inline-block;
min-width: 1.5em;
padding: 0 0.45em;
border-radius: 4px;
text-align: center;
font: 600 12px/1.6 var(--mono);
background: var(--idle);
white-space: nowrap;
}
.chip.u {
background: var(--u-soft);
color: var(--u);
}
.chip.a {
background: var(--a-soft);
color: var(--a);
}
.chip.g {
background: var(--g-soft);
color: var(--g);
}
.chip.d {
border: 1px solid;
background: var(--d-soft);
color: var(--d);
}
.chip.few {
border: 1px dashed;
background: none;
color: var(--soft);
}
.letter {
display: inline-block;
width: 1.5em;
border-radius: 4px;
text-align: center;
font: 700 12px/1.5 var(--mono);
color: var(--on);
background: var(--hue);
}
table {
border-collapse: collapse;
}
th {
text-align: left;
font-weight: 600;
font-size: 12.5px;
color: var(--soft);
}
@media (forced-colors: active) {
.letter,
.chip {
border: 1px solid CanvasText;
}
button[aria-pressed='true'],
button[aria-selected='true'] {
forced-color-adjust: none;
background: Highlight;
color: HighlightText;
}
}
@media (prefers-reduced-motion: reduce) {
* {
transition: none !important;
animation: none !important;
scroll-behavior: auto !important;
}
}
`,le=r=>`--hue: var(--b${(r<0?0:r)%as})`,ie=(r,s,e)=>Math.max(s,Math.min(e,r)),Se=(r,s,e=s+"s")=>`${r.toLocaleString("en")} ${r===1?s:e}`;var kn=40,ls=class extends te{constructor(){super(...arguments);this.hideNext=!1;this.drawings=new Map}static{this.properties={hideNext:{attribute:!1}}}static{this.styles=[se,K`
.scroll {
overflow: auto;
max-height: 560px;
border: 1px solid var(--line);
border-radius: 8px;
background: var(--card);
text-align: center;
}
svg {
display: inline-block;
max-width: 100%;
height: auto;
min-width: min(100%, 300px);
}
.box {
fill: var(--card);
stroke: var(--edge);
stroke-width: 1.2;
}
.here .box {
stroke: var(--hue);
stroke-width: 2.5;
}
.runs .box {
fill: var(--now);
}
.tag {
fill: var(--hue);
}
.tag-text {
fill: var(--on);
font: 700 13px var(--mono);
text-anchor: middle;
}
text {
font: 11px var(--mono);
fill: var(--soft);
}
text.lanes {
fill: var(--ink);
font-weight: 600;
}
.edge {
fill: none;
stroke: var(--edge);
stroke-width: 1.3;
}
.edge.taken {
stroke: var(--accent);
stroke-width: 3;
}
p {
margin: 0 0 8px;
font-size: 13.5px;
color: var(--soft);
}
@media (forced-colors: active) {
.box {
fill: Canvas;
stroke: CanvasText;
}
.tag {
fill: CanvasText;
}
.tag-text {
fill: Canvas;
}
.edge {
stroke: CanvasText;
}
.edge.taken {
stroke: Highlight;
}
text {
fill: CanvasText !important;
}
}
`]}render(){let e=this.model;if(!e)return v;let t=(e.instructionAt(Math.min(this.step,e.steps-1))??e.launch.instructions[0])?.function,n=e.launch.blocks.filter(u=>u.function===t);if(n.length>kn)return f`<p>${t} has ${n.length} basic blocks; a graph of more than ${kn} is not drawn. The arcs beside the program show its branches.</p>`;let i=`${e.launch.row} ${e.launch.policy} ${t}`,o=this.drawings.get(i);o||this.drawings.set(i,o=Ks(n));let a=e.state(this.step),l=new Map;for(let u of a.groups){if(u.instruction<0)continue;let d=e.launch.instructions[u.instruction].block,y=l.get(d)??{runs:D,waits:D};u.reason==="runs"||u.reason==="masked"?y.runs=Z(y.runs,u.lanes):y.waits=Z(y.waits,u.lanes),l.set(d,y)}let h=this.hideNext||a.end?[]:e.outcome(this.step).groups.map(u=>u.instruction<0?-1:e.launch.instructions[u.instruction].block),c=a.end?-1:e.launch.instructions[a.instruction].block,p=o.boxes.filter(u=>l.has(u.block)).map(u=>`block ${e.launch.blocks[u.block].letter}: ${this.words(l.get(u.block))}`).join("; ");return f`<div class="scroll" tabindex="0" role="region" aria-label="Control-flow graph">
<svg viewBox="0 0 ${o.width} ${o.height}" width=${o.width} height=${o.height} role="img" aria-label="Control-flow graph of ${t}. ${p}">
<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5L8 4L0 7.5z" fill="context-stroke"/></marker></defs>
${o.edges.map(u=>X`<path class="edge ${u.from===c&&h.includes(u.to)?"taken":""}" d=${u.path} marker-end="url(#tip)"/>`)}
        ${o.boxes.map(u=>this.box(e.launch.blocks[u.block],u.x-132/2,u.y,l.get(u.block)))}
      </svg>
    </div>`}words(e){let t=this.model;return[C(e.runs)?"":`${W(e.runs,t.lanes)} ${U(e.runs)===1?"runs":"run"}`,C(e.waits)?"":`${W(e.waits,t.lanes)} ${U(e.waits)===1?"waits":"wait"}`].filter(Boolean).join(", ")}box(e,t,n,i){let o=this.model,[a,l]=[o.launch.instructions[e.first].line,o.launch.instructions[e.first+e.instructions-1].line],h=i?[C(i.runs)?"":`${U(i.runs)} run`,C(i.waits)?"":`${U(i.waits)} wait`].filter(Boolean).join(", "):"";return X`<g class="${i?"here":""} ${i&&!C(i.runs)?"runs":""}" style=${le(e.index)}>
<title>${e.letter}${e.labels.length?`, ${e.labels.join(", ")}`:""}: lines ${a} to ${l}${i?`. ${this.words(i)}`:""}</title>
      <rect class="box" x=${t} y=${n} width=${132} height=${44} rx="7"/>
      <rect class="tag" x=${t+7} y=${n+8} width="24" height="28" rx="5"/><text class="tag-text" x=${t+19} y=${n+27}>${e.letter}</text>
      <text x=${t+40} y=${n+19}>${e.labels[0]&&e.labels[0]!==e.letter?e.labels[0].slice(0,13):a===l?`line ${a}`:`lines ${a}–${l}`}</text>
      <text class="lanes" x=${t+40} y=${n+34}>${h}</text>
    </g>`}};customElements.define("gemu-flow",ls);var ct=32n,je=960,cs=32,hs=class extends te{static{this.styles=[se,K`
.card {
border: 1px solid var(--line);
border-radius: 8px;
background: var(--card);
padding: 10px 14px;
}
.card + .card {
margin-top: 10px;
}
p {
margin: 0 0 8px;
font-size: 14px;
}
.scroll {
overflow-x: auto;
}
svg {
display: block;
width: 100%;
min-width: 560px;
height: auto;
}
text {
font: 10px var(--mono);
fill: var(--soft);
text-anchor: middle;
}
text.value {
fill: var(--ink);
}
.arc {
fill: none;
stroke: var(--accent);
stroke-width: 1.2;
opacity: 0.8;
}
.dot {
fill: var(--accent);
}
.sector {
fill: var(--idle);
stroke: var(--edge);
stroke-width: 0.8;
}
.used {
fill: var(--accent);
}
.bank {
fill: none;
stroke: var(--line);
}
.word {
fill: var(--accent);
}
.word.more {
fill: var(--bad);
}
.where {
display: flex;
gap: 8px;
align-items: center;
flex-wrap: wrap;
}
@media (forced-colors: active) {
.arc {
stroke: CanvasText;
}
.dot,
.used,
.word {
fill: CanvasText;
}
.sector,
.bank {
fill: Canvas;
stroke: CanvasText;
}
}
`]}sentence(s){let e=this.model,t=W(s.lanes,e.lanes),n={load:"load",store:"store",atomic:"change",zero:"clear"}[s.kind],i=J(s.lanes).length,o=`${t[0].toUpperCase()+t.slice(1)} ${i===1?n+"s":n} ${Se(s.bytes,"byte")}${i===1?"":" each"} ${s.kind==="load"?"from":"in"} ${s.space} memory${s.allocation?.name?` (${s.allocation.name})`:""}.`,a=new Set(J(s.lanes).map(l=>s.addresses[l])).size;if(s.space==="shared")return`${o} ${s.passes<=1?"One pass through the banks: no conflict.":`${s.passes} passes through the banks, because lanes need ${s.passes} different words of one bank.`}`;if(s.sectors>0){let l=a*s.bytes/(s.sectors*32);return`${o} ${Se(s.sectors,"sector")} of 32 bytes; ${Math.min(100,l*100).toFixed(0)} % of the transferred bytes are used.`}return`${o}${s.passes>1?` ${s.passes} passes.`:""}`}sectors(s){let e=this.model,t=J(s.lanes),n=new Set;for(let x of t)for(let k=s.addresses[x]/ct;k*ct<s.addresses[x]+BigInt(Math.max(s.bytes,1));k++)n.add(k);let i=[...n].sort((x,k)=>x<k?-1:1);if(i.length>128)return v;let o=i.map((x,k)=>k>0&&x!==i[k-1]+1n?1:0),a=6,l=o.reduce((x,k)=>x+k,0),h=Math.min(112,(je-20-l*a)/i.length),c=h*i.length+l*a,p=(je-c)/2,u=i.map((x,k)=>p+=o[k]*a+(k>0?h:0)),d=new Map(i.map((x,k)=>[x,k])),y=x=>14+(x+.5)*(je-28)/e.launch.warpSize,A=x=>{let k=d.get(x/ct);return u[k]+Number(x%ct)/32*(h-2)},g=x=>h>=62||x===0&&h>=8||o[x]&&h>=20;return f`<div class="scroll" tabindex="0" role="region" aria-label="Lanes and sectors"><svg viewBox="0 0 ${je} 150" role="img" aria-label="Arcs from ${t.length} lanes to ${i.length} sectors">
${t.map(x=>{let[k,$]=[y(x),A(s.addresses[x])+Math.min(s.bytes,32)/64*(h-2)];return X`<path class="arc" d="M${k} 26C${k} 70 ${$} 62 ${$} 104"/><circle class="dot" cx=${k} cy="22" r="4.5"/><text x=${k} y="11">${x}</text>`})}
      ${i.map((x,k)=>X`<rect class="sector" x=${u[k]} y="106" width=${Math.max(h-2,1)} height="20" rx="2"/>${g(k)?X`<text x=${h>=62?u[k]+h/2:Math.max(u[k]+30,34)} y="142">${"0x"+(x*ct).toString(16)}</text>`:v}`)}
      ${[...new Set(t.map(x=>s.addresses[x]))].map(x=>X`<rect class="used" x=${A(x)+.5} y="110" width=${Math.max(Math.min(s.bytes,32)/32*(h-2)-1,.8)} height="12"/>`)}
    </svg></div>`}comb(s){let e=J(s.lanes),t=Array.from({length:cs},()=>new Map);for(let a of e){let l=s.addresses[a]/4n;for(let h=0n;h<BigInt(Math.max(1,Math.ceil(s.bytes/4)));h++){let c=t[Number((l+h)%BigInt(cs))];c.set(l+h,[...c.get(l+h)??[],a])}}let n=Math.max(1,...t.map(a=>a.size)),i=n>16?6:14,o=(je-20)/cs;return f`<div class="scroll" tabindex="0" role="region" aria-label="Banks of shared memory"><svg viewBox="0 0 ${je} ${n*i+40}" role="img" aria-label="Words that the lanes need in each of 32 banks; at most ${n} in one bank">
${t.map((a,l)=>X`<text x=${10+(l+.5)*o} y="12">${l}</text><rect class="bank" x=${10+l*o+2} y="18" width=${o-4} height=${n*i+2} rx="3"/>${[...a.values()].map((h,c)=>X`<rect class="word ${c>0?"more":""}" x=${10+l*o+4} y=${19+c*i} width=${o-8} height=${i-2} rx="2"><title>bank ${l}: ${h.length===1?"lane":"lanes"} ${h.join(", ")}</title></rect>`)}`)}
    </svg></div><p class="soft">Each column is a bank, each block a word that lanes need. A second block in a column costs a second pass.</p>`}jump(s){return()=>{let e=this.model;for(let t=this.step+s;t>=0&&t<e.steps;t+=s)if(e.instructionAt(t).class==="memory"&&e.accesses(t).some(n=>n.space!=="param"))return this.go(t);this.send("gemu-hover",{text:`No ${s>0?"later":"earlier"} step accesses memory.`})}}render(){let s=this.model;if(!s)return v;if(!s.launch.has.accesses)return f`<p>The recording has no accesses. Record with --with accesses.</p>`;let e=s.accesses(this.step);return f`<p class="where"><button @click=${this.jump(-1)}>← access before</button><button @click=${this.jump(1)}>next access →</button>${e.length===0?f`<span class="soft">This step does not access memory.</span>`:v}</p>
      ${e.slice(0,8).map(t=>f`<div class="card"><p>${this.sentence(t)}</p>${t.space==="shared"?this.comb(t):t.sectors>0?this.sectors(t):v}</div>`)}`}};customElements.define("gemu-memory",hs);function An(r){if(r.length<4)throw new Error("the answer of the engine is empty");let s=new DataView(r.buffer,r.byteOffset).getUint32(0,!0);if(s>r.length-4)throw new Error("the answer of the engine is cut off");return{response:JSON.parse(new TextDecoder().decode(r.subarray(4,4+s))),recording:r.slice(4+s)}}var us=class{async run(s,e){let t=await fetch("run",{method:"POST",headers:{"Content-Type":"application/json"},body:JSON.stringify(s),signal:e});if(!t.ok)throw new Error(`gemu play answers ${t.status}: ${(await t.text()).trim()||t.statusText}`);return An(new Uint8Array(await t.arrayBuffer()))}async examples(){let s=await fetch("examples.json");return s.ok?await s.json():[]}},ps=class{constructor(){this.id=0}start(){return this.worker??=new Promise((s,e)=>{let t=globalThis.gemuWorker,n=t?t():new Worker("engine.js"),i=a=>{n.terminate(),this.worker=void 0,e(new Error(a))},o=a=>{a.data.type==="failed"&&i(a.data.message),a.data.type==="ready"&&(n.removeEventListener("message",o),this.policies=a.data.policies,s(n))};n.addEventListener("message",o),n.addEventListener("error",a=>i(a.message||"the engine does not start: this browser may lack WebAssembly"))}),this.worker}async ask(s,e,t){let n=await this.start();return t?.throwIfAborted(),new Promise((i,o)=>{let a=()=>{n.removeEventListener("message",l),n.removeEventListener("error",c),t?.removeEventListener("abort",p)},l=u=>{u.data.type==="failed"&&h(new Error(u.data.message)),e(u.data)&&(a(),i(u.data))},h=u=>{a(),n.terminate(),this.worker=void 0,o(u)},c=u=>h(new Error(`the engine has failed: ${u.message}`)),p=()=>h(t.reason);n.addEventListener("message",l),n.addEventListener("error",c),t?.addEventListener("abort",p),n.postMessage(s)})}async run(s,e){let t=++this.id,n=await this.ask({type:"run",id:t,request:s},i=>i.type==="response"&&i.id===t,e);return An(new Uint8Array(n.bytes))}async examples(){return(await this.ask({type:"examples"},s=>s.type==="examples")).examples}};function Mn(r){if(r==="http")return new us;if(r==="wasm")return new ps}var Oi=/`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|!\[[^\]]*\]\([^)]*\)|\[([^\]]+)\]\([^)]*\)/g;function ve(r){let s=[],e=0;for(let t of r.matchAll(Oi))t.index>e&&s.push(r.slice(e,t.index)),t[1]?s.push(f`<code>${t[1]}</code>`):t[2]?s.push(f`<b>${ve(t[2])}</b>`):t[3]?s.push(f`<em>${ve(t[3])}</em>`):t[4]&&s.push(...ve(t[4])),e=t.index+t[0].length;return e<r.length&&s.push(r.slice(e)),s}function ds(r){let s=[];for(let[e,t]of r.split(/^```.*$/m).entries()){if(e%2===1){s.push(f`<pre tabindex="0" aria-label="Code">${t.replace(/^\n|\n$/g,"")}</pre>`);continue}for(let n of t.split(/\n\s*\n/)){let i=n.trim();if(!i||/^!\[[^\]]*\]\([^)]*\)$/.test(i)||i.startsWith("<!--"))continue;let o=/^(#+)\s+(.*)$/.exec(i);if(o)o[1].length>1&&s.push(f`<h2>${ve(o[2])}</h2>`);else if(i.startsWith("|")){let l=i.split(`
`).filter(h=>!/^\|[\s|:-]+\|$/.test(h)).map(h=>h.replace(/^\||\|$/g,"").split("|").map(c=>c.trim()));s.push(f`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><tbody>${l.map((h,c)=>f`<tr>${h.map(p=>c?f`<td>${ve(p)}</td>`:f`<th scope="col">${ve(p)}</th>`)}</tr>`)}</tbody></table></div>`)}else/^([-*]|\d+\.)\s/.test(i)?s.push(f`<ul>${i.split(/\n(?=(?:[-*]|\d+\.)\s)/).map(a=>f`<li>${ve(a.replace(/^([-*]|\d+\.)\s+/,"").replace(/\n\s*/g," "))}</li>`)}</ul>`):s.push(f`<p>${ve(i.replace(/\n\s*/g," "))}</p>`)}}return s}var St="#v1:",fs=4<<20;function En(r){let s=new TextEncoder().encode(JSON.stringify(r));if(s.length>fs)throw new Error(`A link can hold a program of at most ${fs>>20} MiB, with its source files: send the files instead.`);let e=an(s,{level:9}),t="";for(let n of e)t+=String.fromCharCode(n);return St+btoa(t).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")}function ms(r){if(!r.startsWith("#v"))return;if(!r.startsWith(St))throw new Error("the link was made by another version of the page: this page reads links that begin with "+St);let s;try{let e=atob(r.slice(St.length).replaceAll("-","+").replaceAll("_","/")),t=Uint8Array.from(e,i=>i.charCodeAt(0)),n=At(t,{out:new Uint8Array(Math.min(fs,t.length*1032+1))});s=JSON.parse(new TextDecoder("utf-8",{fatal:!0}).decode(n))}catch{throw new Error("the link is damaged: a part of it may be missing. Copy it again")}return gs(s)}function gs(r){let s=r,e=p=>typeof p=="number"&&Number.isSafeInteger(Math.floor(p))&&p>=0?Math.floor(p):void 0,t=p=>typeof p=="boolean"?p:void 0,n=p=>typeof p=="string"?p:"",i=p=>Array.isArray(p)?p.map(n):[],o=p=>{let[u,d,y]=Array.isArray(p)?p.map(e):[];return[u??1,d??1,y??1]},a=s?.request;if(typeof a!="object"||a===null||typeof a.source!="string")throw new Error("the link holds no program");let[l,h]=[e(s.view?.from),e(s.view?.to)],c={name:n(a.name)||"kernel.ptx",source:a.source,kernel:n(a.kernel),grid:o(a.grid),block:o(a.block),arguments:i(a.arguments),policy:n(a.policy)||void 0,warp:e(a.warp),sm:n(a.sm)||void 0,maxEvents:e(a.maxEvents),maxSteps:e(a.maxSteps),memory:t(a.memory),shared:e(a.shared),cluster:a.cluster&&o(a.cluster),cooperative:t(a.cooperative),seed:e(a.seed),set:a.set&&i(a.set),files:a.files&&Object.fromEntries(Object.entries(a.files).filter(([,p])=>typeof p=="string"))};return{request:Object.fromEntries(Object.entries(c).filter(([,p])=>p!==void 0)),policies:i(s.policies).filter(Boolean).slice(0,8),policy:n(s.policy)||void 0,step:e(s.step),cta:e(s.cta),warp:e(s.warp),lane:e(s.lane),register:n(s.register)||void 0,hex:t(s.hex),pane:n(s.pane)||void 0,view:l!==void 0&&h!==void 0&&h>l?{from:l,to:h}:void 0,predict:s.predict===!0}}var Ln=[1,2,4,8,16,32,64];function vs(r){let s=r.trim()?r.trim().split(/\s*[,x×]\s*|\s+/):["0","0","0"],e=s.map(t=>/^\d{1,10}$/.test(t)?Number(t):NaN);if(s.length>3||r.trim()&&e.some(t=>!(t>=1&&t<2**31)))throw new Error(`"${r.trim()}": want one to three numbers from 1 on, such as 32 or 8,4`);return[e[0],e[1]??1,e[2]??1]}function Sn(r,s){let e=r.trim(),t=e===""?0:/^\d{1,16}$/.test(e)?Number(e):NaN;if(!(t<=s))throw new Error(`"${e}": want a whole number from 0 to ${s.toLocaleString("en")}`);return t}function Tn(r){let s={},e=(o,a,l)=>{try{return l()}catch(h){return s[o]=h.message,a}},t=[0,0,0],n=e("cluster",t,()=>vs(r.cluster));return{launch:{grid:e("grid",t,()=>vs(r.grid)),block:e("block",t,()=>vs(r.block)),cluster:n[0]?n:void 0,shared:e("shared",0,()=>Sn(r.shared,2**31-1))||void 0,seed:e("seed",0,()=>Sn(r.seed,Number.MAX_SAFE_INTEGER))||void 0,cooperative:r.cooperative||void 0},faults:s}}function bs(r,s){let e=r.find(o=>o.name===s);if(e)return e.doc;let[t,n]=s.split(":"),i=r.find(o=>o.name===t)?.doc;return i&&n?`${i}, with time slices of exactly ${n} instructions`:""}function Cn(r,s,e){return e===void 0?r:r.filter(t=>t===e||s.some(n=>n.label===t&&n.busy))}function de(r,s){return s<0?"the end":`line ${r.instructions[s].line}`}function Ve(r,s,e,t){return`${W(r,s)} ${U(r)===1?t:e}`}var pe=r=>r[0].toUpperCase()+r.slice(1);function Re(r,s,e=!1){let t=r.launch,n=r.lanes;if(s>=r.steps)return{head:"The end",code:"",rest:ut(r)};let i=r.instructionAt(s),[o,a]=[r.active(s),r.executing(s)],l={head:`Step ${s+1}, line ${i.line}`,code:i.text,rest:""},h=[],c=i.text.startsWith("@"),p=r.branches(s);if(c&&!p&&!he(o,a)?h.push(C(a)?`${pe(W(o,n))} ${U(o)===1?"is":"are"} here, but the guard holds for none.`:`The guard holds for ${W(a,n)} of ${U(o)}.`):h.push(`${pe(W(o,n))} ${U(o)===1?"executes":"execute"} it.`),e)return l.rest=h.join(" "),l;let u=r.outcome(s);return u.split&&u.groups.length>1?h.push(`The warp splits: ${u.groups.map(d=>`${Ve(d.lanes,n,"go","goes")} to ${de(t,d.instruction)}`).join(", ")}.`):c&&p&&u.groups.length===1&&h.push(C(a)?"No lane takes the branch.":`All take the branch, to ${de(t,u.groups[0].instruction)}.`),u.called&&h.push(`They call ${u.called}.`),C(u.waiting)||h.push(`${pe(Ve(u.waiting,n,"wait","waits"))} ${u.barrier>=0?`at barrier ${u.barrier}`:"for other lanes of the warp"}.`),!C(u.woken)&&C(xe(u.woken,u.waiting))&&h.push(`${pe(Ve(u.woken,n,"go on","goes on"))}.`),C(u.ended)||h.push(`${pe(Ve(u.ended,n,"end","ends"))}.`),C(u.reconverged)?s+1<r.steps&&!he(o,r.active(s+1))&&!(C(u.waiting)&&he(B(o,u.ended),r.active(s+1)))&&h.push(`Next ${Ve(r.active(s+1),n,"run","runs")}, at line ${r.line(s+1)}.`):h.push(`${pe(Ve(u.reconverged,n,"are","is"))} together again${s+1<r.steps?`, at line ${r.line(s+1)}`:""}.`),u.trap&&h.push(`The kernel stops: ${u.trap}.`),l.rest=h.join(" "),l}var ht=r=>`${r.head}${r.code?`: ${r.code}.`:"."} ${r.rest}`;function ut(r){let s=r.launch,e=B(r.lanes,r.ended(r.steps));if(C(e))return"All lanes have ended.";let t=r.state(r.steps).groups.filter(i=>i.reason!=="ended").map(i=>`${W(i.lanes,r.lanes)} ${U(i.lanes)===1?"is":"are"} at ${de(s,i.instruction)}`);return r.steps===0?`No step was recorded. ${pe(t.join(", "))}.`:`${{deadlock:"Deadlock: no thread can make progress",trap:"The kernel has failed",stopped:pe(pt(s)),done:"The recording ends here"}[s.outcome]}. ${pe(t.join(", "))}.`}var Ge=r=>r.outcome==="deadlock";function pt(r){let s=/\b(stopped at the limit of [^:;]+)|\b((?:step|time) limit reached)/.exec(r.error);return s?.[1]??(s?`stopped: ${s[2]}`:"stopped at the limit of the recording")}function Ke(r,s,e){switch(s.reason){case"runs":return"run now";case"masked":return"are here, but the guard does not hold";case"ready":return C(s.missing)?"wait while the policy runs other lanes":`wait for ${W(s.missing,r.lanes)}, which ${r.launch.policy.startsWith("its")?"take turns with them":U(s.missing)===1?"runs first":"run first"}; they meet at ${de(r.launch,s.point)}`;case"joins":return C(s.missing)?`wait at the reconvergence point, ${de(r.launch,s.point)}`:`wait at the reconvergence point for ${W(s.missing,r.lanes)}`;case"barrier":return`wait at the barrier in ${de(r.launch,s.instruction)} for ${Ni(r,s,e)}`;case"collective":return"wait for the other lanes that the instruction names";case"stuck":return Ge(r.launch)?"can never continue":"are here when the recording ends";case"waits":return"wait until the policy runs them";case"ended":return"have ended";case"absent":return"have no thread"}}function Ni(r,s,e){let t=e.filter(n=>n!==s&&!["ended","absent"].includes(n.reason));return t.length===0?"other threads of the CTA":t.map(n=>W(n.lanes,r.lanes)+(n.reason==="barrier"?`, which ${U(n.lanes)===1?"waits":"wait"} at the barrier in ${de(r.launch,n.instruction)}`:"")).join(", and ")}function zn(r,s,e){let t=r.state(s),n=t.groups[t.group[e]];if(!n)return`Lane ${e} has no thread.`;let i=n.instruction>=0?` – line ${r.launch.instructions[n.instruction].line}: ${r.launch.instructions[n.instruction].text}`:"",o=Ke(r,n,t.groups).replace(/^(run|wait)\b/,"$1s").replace(/^are\b/,"is").replace(/^have\b/,"has");return`Step ${s+1}, lane ${e} ${o}${i}`}function Rn(r){let s=r.counts(),e=U(r.lanes);if(s.steps===0)return"No instruction is recorded.";let t=`${s.steps.toLocaleString("en")} ${s.steps===1?"instruction":"instructions"}`;if(s.partial===0)return`${t}, each executed by all ${e} lanes.`;let n=s.steps-s.activeSum/r.launch.warpSize;return`${t}; in ${s.partial.toLocaleString("en")} of them some lanes do not run. On average ${Number((s.activeSum/s.steps).toFixed(1))} of ${r.launch.warpSize} lanes run, ${(s.used*100).toFixed(0)} %: as if ${n<10?n.toFixed(1):Math.round(n).toLocaleString("en")} steps were wasted.`}var In=K`
.page {
min-height: 100vh;
background: var(--paper);
overflow-x: clip;
}
.page.dropping {
outline: 4px dashed var(--accent);
outline-offset: -8px;
}
header {
display: flex;
flex-wrap: wrap;
align-items: center;
gap: 6px 14px;
padding: 9px 20px;
border-bottom: 1px solid var(--line);
background: var(--card);
}
.brand {
font: 600 19px/1 var(--mono);
letter-spacing: -0.03em;
color: var(--soft);
}
.brand b {
color: var(--accent);
}
h1 {
margin: 0;
font-size: 17px;
font-weight: 650;
}
.shape {
font-size: 13px;
color: var(--soft);
}
nav {
display: flex;
gap: 6px;
margin-left: auto;
}
main {
max-width: 1480px;
margin: 0 auto;
padding: 0 20px 48px;
}
h2 {
margin: 0;
font-size: 14px;
font-weight: 650;
}
h3 {
margin: 12px 0 4px;
font-size: 13px;
}
select,
input:not([type='range'], [type='checkbox']) {
min-height: 32px;
max-width: 100%;
padding: 3px 8px;
border: 1px solid var(--edge);
border-radius: 7px;
background: var(--card);
font-size: 14px;
}
input[aria-invalid='true'] {
border: 2px solid var(--bad);
}
.field {
display: inline-flex;
gap: 6px;
align-items: center;
font-size: 13px;
color: var(--soft);
}
.field select,
.field input {
color: var(--ink);
font-size: 13px !important;
min-height: 28px !important;
}
.slice {
width: 74px;
}
.bar {
display: flex;
flex-wrap: wrap;
gap: 4px 14px;
align-items: baseline;
margin-bottom: 6px;
}
.bar > .soft {
font-size: 13px;
}
.hint {
margin-left: auto;
}
.small {
min-height: 26px;
min-width: 26px;
font-size: 12.5px;
padding: 0 7px;
border-color: transparent;
background: none;
color: var(--soft);
}
.small:hover {
color: var(--ink);
}
.intro {
display: flex;
flex-wrap: wrap;
align-items: baseline;
gap: 4px 14px;
padding: 12px 0 0;
}
.intro .ask {
margin: 0;
font-size: 16px;
}
.intro details[open] {
flex-basis: 100%;
}
summary {
cursor: pointer;
min-height: 24px;
font-size: 13.5px;
color: var(--accent);
}
.prose {
max-width: 72ch;
}
.prose p,
.prose ul {
margin: 6px 0;
}
.prose code,
.ask code {
font: 0.9em/1.4 var(--mono);
}
.prose td,
.prose th {
padding: 3px 10px;
text-align: left;
border-bottom: 1px solid var(--line);
}
pre {
margin: 6px 0 0;
padding: 10px 12px;
overflow-x: auto;
border-radius: 6px;
background: var(--well);
font: 12.5px/1.5 var(--mono);
white-space: pre;
}
.sticky {
position: sticky;
top: 0;
z-index: 5;
margin: 0 -20px;
padding: 10px 20px 4px;
background: var(--paper);
}
.transport {
display: flex;
flex-wrap: wrap;
align-items: center;
gap: 8px 14px;
}
.buttons {
display: flex;
flex-wrap: wrap;
gap: 5px;
align-items: center;
}
.icon {
display: inline-grid;
place-items: center;
width: 38px;
height: 34px;
padding: 0;
}
.transport input[type='range'] {
flex: 1 1 180px;
min-width: 120px;
height: 28px;
accent-color: var(--accent);
margin: 0;
}
.position {
min-width: 9.5em;
font-size: 14px;
font-variant-numeric: tabular-nums;
color: var(--soft);
}
.check {
display: inline-flex;
align-items: center;
gap: 6px;
min-height: 28px;
font-size: 14px;
}
.check input {
width: 24px;
height: 24px;
accent-color: var(--accent);
margin: 0;
}
.say {
margin-top: 8px;
}
.sentence {
margin: 0;
min-height: 1.5em;
font-size: 16px;
}
.sentence code {
margin: 0 8px;
padding: 1px 7px;
border-radius: 5px;
background: var(--now);
font: 600 14px/1.5 var(--mono);
}
.hover {
margin: 1px 0 0;
height: 1.5em;
overflow: hidden;
white-space: nowrap;
text-overflow: ellipsis;
font-size: 13px;
color: var(--soft);
}
.faint {
opacity: 0.9;
}
.time {
margin-top: 6px;
padding: 10px 14px 12px;
border: 1px solid var(--line);
border-radius: 10px;
background: var(--card);
}
.strip + .strip {
margin-top: 10px;
padding-top: 8px;
border-top: 1px solid var(--line);
}
.strip-title {
display: flex;
gap: 10px;
align-items: center;
font-size: 13.5px;
min-height: 28px;
}
.pick {
font: 700 14px/1.4 var(--mono);
min-height: 28px;
padding: 1px 10px;
}
.bad {
color: var(--bad);
}
.busy {
font-size: 12.5px;
font-weight: 600;
color: var(--accent);
}
.columns {
display: grid;
grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
gap: 18px 22px;
margin-top: 16px;
}
.stack-head {
margin-top: 14px;
}
.panes {
margin-top: 18px;
}
.tabs {
display: flex;
flex-wrap: wrap;
gap: 5px;
margin-bottom: 10px;
}
.card {
margin-top: 12px;
padding: 12px 16px;
border: 1px solid var(--line);
border-radius: 10px;
background: var(--card);
}
.card p {
margin: 4px 0;
}
.bad-card {
border-color: var(--bad);
border-left-width: 6px;
background: var(--bad-soft);
}
.bad-card h2 {
color: var(--bad);
font-size: 16px;
}
.bad-card pre {
background: color-mix(in srgb, var(--card) 75%, transparent);
white-space: pre-wrap;
overflow-wrap: anywhere;
}
.empty {
margin-top: 40px;
text-align: center;
padding: 48px 16px;
}
.help {
display: grid;
grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr));
gap: 6px 32px;
font-size: 14px;
}
.help dl {
display: grid;
grid-template-columns: auto 1fr;
gap: 2px 14px;
margin: 4px 0;
}
.help dt {
font-family: var(--mono);
}
.help dd {
margin: 0;
}
.question {
margin-bottom: 10px;
padding: 10px 14px;
border: 2px solid var(--accent);
border-radius: 9px;
background: var(--accent-soft);
}
.question p {
margin: 0 0 8px;
font-size: 14.5px;
}
.verdict {
margin: 0 0 10px;
padding: 7px 12px;
border-radius: 7px;
border-left: 5px solid var(--edge);
background: var(--well);
font-size: 14.5px;
}
.question .verdict {
margin: 8px 0 0;
}
.verdict.good {
border-color: var(--good);
}
.verdict.no {
border-color: var(--g);
}
.warps {
margin-bottom: 10px;
}
.warp-list {
display: flex;
flex-wrap: wrap;
gap: 4px;
max-height: 150px;
overflow: auto;
padding: 3px;
}
.warp-list button {
display: inline-flex;
gap: 5px;
align-items: center;
min-height: 28px;
padding: 1px 7px;
font-size: 12px;
}
.meter {
width: 32px;
height: 8px;
border-radius: 2px;
overflow: hidden;
background: var(--idle);
}
.meter i {
display: block;
height: 100%;
background: var(--hue);
}
.edit {
margin-top: 14px;
}
.editor-host {
border: 1px solid var(--edge);
border-radius: 8px;
overflow: hidden;
background: var(--card);
resize: vertical;
}
.editor-host > p {
padding: 0 14px;
}
.launch {
display: flex;
flex-wrap: wrap;
gap: 8px 14px;
align-items: center;
margin-top: 8px;
font-size: 13.5px;
}
form.launch label {
display: inline-flex;
gap: 6px;
align-items: center;
color: var(--ink);
}
form.launch input {
scroll-margin: 200px 0 60px; /* clear of the sticky controls */
}
.one {
display: inline-flex;
flex-wrap: wrap;
gap: 2px 8px;
align-items: center;
}
.fault {
flex-basis: 100%;
white-space: pre-wrap;
overflow-wrap: anywhere;
}
.more {
flex-basis: 100%;
}
.launch .argument input {
font-family: var(--mono);
width: 16ch;
}
.values {
display: grid;
grid-template-columns: repeat(auto-fill, minmax(78px, 1fr));
gap: 2px;
margin: 0;
padding: 8px;
list-style: none;
font: 13px/1.6 var(--mono);
}
.values li {
display: flex;
justify-content: space-between;
gap: 8px;
padding: 0 6px;
border-radius: 4px;
background: var(--well);
}
.scroll {
max-height: 320px;
overflow: auto;
border: 1px solid var(--line);
border-radius: 8px;
background: var(--card);
}
dialog {
max-width: min(640px, 92vw);
width: 100%;
border: 1px solid var(--line);
border-radius: 12px;
background: var(--card);
color: var(--ink);
padding: 18px 20px;
}
dialog::backdrop {
background: rgb(0 0 0 / 0.35);
}
dialog input {
width: 100%;
margin: 8px 0 12px;
font-family: var(--mono);
}
@media (max-width: 900px) {
.columns {
grid-template-columns: minmax(0, 1fr);
}
}
@media (max-width: 560px) {
header {
padding: 8px 12px;
}
main {
padding: 0 12px 40px;
}
nav {
margin-left: 0;
flex-basis: 100%;
}
.shape {
flex-basis: 100%;
}
.sticky {
margin: 0 -12px;
padding: 8px 12px 4px;
}
.icon {
width: 42px;
height: 38px;
}
.transport .buttons {
width: 100%;
justify-content: space-between;
}
.transport {
gap: 4px 12px;
}
.transport input[type='range'] {
flex-basis: 100%;
}
.position {
flex: 1;
min-width: 0;
}
.sentence {
font-size: 15px;
max-height: 6em;
overflow: auto;
}
.hover,
.hint {
display: none;
}
.time {
padding: 8px 10px 10px;
}
.field {
flex-wrap: wrap;
}
}
@media (forced-colors: active) {
.sentence code {
border: 1px solid CanvasText;
}
.meter i {
background: CanvasText;
}
.icon svg {
forced-color-adjust: auto;
}
}
@media print {
.sticky {
position: static;
}
}
`;var _i=[["registers","Registers"],["memory","Memory"],["flow","Control flow"],["results","Results"]],ws=matchMedia("(max-width: 900px)"),qi=2e5,Di=500,xs=class extends me{constructor(){super(...arguments);this.src="";this.runs=[];this.main=0;this.step=0;this.warpIndex=0;this.lane=-1;this.register="";this.hex=!1;this.narrow=!1;this.pane="registers";this.predict=!1;this.revealed=1/0;this.picked=D;this.hover="";this.lines=new Set;this.playing=!1;this.editing=!1;this.examples=[];this.message="";this.marks=[];this.faults={};this.link="";this.policies=["stack"];this.known=[];this.dropping=!1;this.help=!1;this.timer=0;this.zoomed=!1;this.onNarrow=()=>{this.narrow=ws.matches};this.onHash=()=>{try{let e=ms(location.hash);e&&this.engine&&this.openPlace(e)}catch(e){this.message=e.message}};this.rememberTimer=0;this.onStep=e=>{e.preventDefault(),this.pause(),this.go(e.detail.step)};this.onZoom=e=>{e.preventDefault();let t=e.detail.view;this.view=t??{from:0,to:this.longest+1},this.zoomed=!!t};this.hoverTimer=0;this.onHover=e=>{clearTimeout(this.hoverTimer);let t=e.detail.text;t?this.hover=t:this.hoverTimer=window.setTimeout(()=>this.hover="",300)};this.onKey=e=>{if(e.key==="Escape"&&this.help&&(this.help=!1),e.ctrlKey||e.metaKey||e.altKey)return;let t=e.composedPath();if(t.some(l=>l instanceof HTMLElement&&(/^(INPUT|SELECT|TEXTAREA)$/.test(l.tagName)||l.isContentEditable||l.tagName==="DIALOG"))&&!(t[0]instanceof HTMLInputElement&&t[0].type==="range"&&e.shiftKey))return;let i=t.some(l=>l instanceof HTMLElement&&l.getAttribute("role")==="region"),o=t.some(l=>l instanceof HTMLElement&&/^(BUTTON|SUMMARY|A)$/.test(l.tagName)),a={ArrowRight:()=>e.shiftKey?this.turn(1):this.go(this.step+1),ArrowLeft:()=>e.shiftKey?this.turn(-1):this.go(this.step-1),Home:()=>this.go(0),End:()=>this.go(this.last)," ":()=>this.togglePlay()};!a[e.key]||i&&!e.shiftKey||e.key===" "&&o||this.runs.length===0||(e.key!==" "&&this.pause(),a[e.key](),e.preventDefault())};this.onMessage=e=>{let t=e.data;if(e.source!==parent||parent===window||typeof t!="object"||!t||typeof t.gemu!="string")return;({step:()=>this.go(Math.round(Number(t.step))||0),next:()=>this.go(this.step+1),back:()=>this.go(this.step-1),"next-split":()=>this.turn(1),"previous-split":()=>this.turn(-1),state:()=>this.post(this.report()),open:()=>this.openBytes((t.recordings??[]).map(i=>({name:String(i.name),bytes:new Uint8Array(i.bytes)}))),run:()=>{try{let i=gs({request:t.request??this.request,policies:t.policies});i.policies.length&&(this.policies=i.policies),t.request&&this.setRequest(i.request)}catch{this.message='The message "run" of the surrounding page holds no program.';return}this.runAll().then(()=>this.post(this.report()))}})[t.gemu]?.()}}static{this.properties={src:{},runs:{state:!0},main:{state:!0},step:{state:!0},warpIndex:{state:!0},lane:{state:!0},register:{state:!0},hex:{state:!0},narrow:{state:!0},view:{state:!0},pane:{state:!0},predict:{state:!0},revealed:{state:!0},picked:{state:!0},verdict:{state:!0},hover:{state:!0},lines:{state:!0},playing:{state:!0},editing:{state:!0},example:{state:!0},examples:{state:!0},message:{state:!0},marks:{state:!0},faults:{state:!0},link:{state:!0},policies:{state:!0},known:{state:!0},request:{state:!0},dropping:{state:!0},help:{state:!0}}}static{this.styles=[se,In]}connectedCallback(){super.connectedCallback(),this.addEventListener("gemu-step",this.onStep),this.addEventListener("gemu-hover",this.onHover),this.addEventListener("gemu-lines",(t=>this.lines=t.detail.lines)),this.addEventListener("gemu-lane",(t=>this.lane=t.detail.lane)),this.addEventListener("gemu-register",(t=>this.register=this.register===t.detail.name?"":t.detail.name)),this.addEventListener("gemu-hex",(t=>this.hex=t.detail.hex)),this.addEventListener("gemu-zoom",this.onZoom),this.addEventListener("gemu-run-to",(t=>this.runTo(t.detail))),this.addEventListener("gemu-pick",(t=>this.pick(t.detail.lane)));let e=!this.src&&document.getElementById("gemu-start")&&document.querySelectorAll("gemu-player").length===1;this.keys=e?window:this,this.keys.addEventListener("keydown",this.onKey),ws.addEventListener("change",this.onNarrow),this.onNarrow(),addEventListener("message",this.onMessage),addEventListener("hashchange",this.onHash),this.begin()}disconnectedCallback(){super.disconnectedCallback(),this.keys?.removeEventListener("keydown",this.onKey),ws.removeEventListener("change",this.onNarrow),removeEventListener("message",this.onMessage),removeEventListener("hashchange",this.onHash),this.pause(),this.abort?.abort(),this.closeEditor()}async begin(){let e={};try{let t=this.src?"":document.getElementById("gemu-start")?.textContent?.trim()??"";t&&(e=JSON.parse(t))}catch(t){this.message=`The start of the page cannot be read: ${t.message}`}this.engine=Mn(e.engine),e.policies?.length&&(this.policies=e.policies),this.known=e.knownPolicies??[],e.request&&(e.request.arguments??=[]);try{if(this.src){let a=await fetch(this.src);if(!a.ok)throw new Error(`${this.src}: ${a.status} ${a.statusText}`);this.openBytes([{name:this.src,bytes:new Uint8Array(await a.arrayBuffer())}])}else e.recordings?.length&&this.openBytes(e.recordings.map(a=>({name:a.name,bytes:Uint8Array.from(atob(a.base64),l=>l.charCodeAt(0))})));let t=ms(location.hash);if(t&&!this.engine)throw new Error("This page has no engine: it cannot run the program of the link. Open the link with gemu play.");let n="",i=this.engine?this.engine.examples().catch(a=>(n=`The examples cannot be loaded: ${a.message}`,[])):Promise.resolve([]),o=/^#example=([\w-]+)(?:&step=(\d+))?$/.exec(location.hash);if(t?this.openPlace(t):e.request&&!o&&(this.setRequest({...e.request}),await this.runAll()),this.examples=await i,this.known.length===0&&(this.known=this.engine?.policies??[]),n&&(this.message||=n),!t&&(o||!e.request&&!e.recordings?.length)){let a=this.examples.find(l=>l.id===(o?.[1]??e.example))??this.examples[0];a&&await this.openExample(a),o?.[2]&&a?.id===o[1]&&this.go(Number(o[2])-1)}}catch(t){this.message=t.message}await this.updateComplete,this.setAttribute("ready",""),this.post({gemu:"ready"})}openPlace(e){this.policies=e.policies,this.setRequest(e.request),this.example=void 0,this.lane=e.lane??-1,this.register=e.register??"",this.hex=e.hex??!1,e.pane&&(this.pane=e.pane),this.firstStep=e,this.runs=[],this.runAll()}async openExample(e){this.example=e,this.policies=e.policies,this.setRequest({...e.request}),this.runs=[],this.firstStep=void 0,[this.main,this.step,this.warpIndex,this.lane,this.register,this.view]=[0,0,0,-1,"",void 0],this.zoomed=!1,this.pane=e.id==="memory"?"memory":"registers",this.remember(),await this.runAll()}openBytes(e){this.abort?.abort(),this.pause();let t=[];for(let n of e){let i;try{i=Fe(new Ee(n.bytes))}catch(o){t.push({label:n.name,busy:!1,failure:`${n.name}: ${o.message}`});continue}i.length===0&&t.push({label:n.name,busy:!1,failure:`${n.name}: the recording has no launch`});for(let o of i.slice(0,32)){let a=i.length>1||e.length>1,l=i.length>1?`${o.row}: ${o.kernel}`:a&&e.filter(h=>h!==n).length&&t.some(h=>h.label===o.policy)?n.name:o.policy||n.name;t.push({label:l,launch:o,busy:!1,failure:""})}}this.example=void 0,this.setRequest(void 0),this.runs=t,this.policies=[],[this.main,this.step,this.lane,this.register,this.view,this.message]=[Math.max(0,t.findIndex(n=>n.launch)),0,-1,"",void 0,t.every(n=>!n.launch)?t.map(n=>n.failure).join(`
`):""],this.message&&(this.runs=[]),this.warpIndex=0,this.zoomed=!1,this.resetView(),this.resetPrediction()}setRequest(e){this.request=e,e&&(this.policies.length===0&&(this.policies=["stack"]),this.editor&&this.editor.text!==e.source&&this.editor.setText(e.source))}async runAll(e){if(!this.engine||!this.request)return;this.abort?.abort(),this.pause();let t=this.abort=new AbortController,n=this.model?.steps?{at:this.model.occurrence(this.step),end:this.step>=this.model.steps,cta:this.model.info.cta,warp:this.model.info.warp}:void 0,i=this.runs;this.message="",this.faults={},this.marks=[],this.editor?.setMarks([]);let o=Cn(this.policies,i,e);this.runs=this.policies.map(h=>(o.includes(h)?void 0:i.find(c=>c.label===h))??{label:h,launch:i.find(c=>c.label===h)?.launch,busy:!0,failure:""}),this.main=Math.min(this.main,this.runs.length-1);let a=!!e&&!this.firstStep&&!i[this.main]?.busy;for(let h of o){let c;try{let{response:p,recording:u}=await this.engine.run({maxEvents:qi,memory:!0,...this.request,policy:h},t.signal);c={label:h,response:p,busy:!1,failure:""},u.length&&(c.launch=Fe(new Ee(u))[0]),c.launch&&p.status!=="error"&&(c.launch.outcome=p.status),c.launch||(c.failure=p.message||"The run has no recording."),p.status==="error"&&this.refuse(p)}catch(p){if(t.signal.aborted)return;c={label:h,busy:!1,failure:p.message}}if(t.signal.aborted)return;if(this.runs=this.runs.map(p=>p.label===h?c:p),c.launch&&!a&&(h===(this.firstStep?.policy??this.policies[this.main])||h===o.at(-1))&&(a=!0,this.putAt(c,n)),c.response?.place&&c.response.status==="error"){this.runs=this.runs.map(p=>p.busy?{...c,label:p.label}:p);break}}let l=this.runs.find(h=>h.failure);l&&!this.runs.some(h=>h.launch)&&(this.message=l.failure),this.marks.length&&this.message&&(this.message="");for(let h of this.runs)h.busy=!1;this.runs=[...this.runs],this.zoomed||this.resetView()}putAt(e,t){let n=e.launch,i=this.firstStep;if(this.firstStep=void 0,i)this.main=Math.max(0,this.runs.findIndex(o=>o.label===i.policy)),this.warpIndex=Math.max(0,n.findWarp(i.cta??0,i.warp??0)),this.step=ie(i.step??0,0,this.model?.steps??0),this.view=i.view,this.zoomed=!!i.view,this.predict=i.predict??!1;else if(t){this.warpIndex=Math.max(0,n.findWarp(t.cta,t.warp));let o=this.model;if(o){let a=t.end?o.steps:o.find(t.at);this.step=a>=0?a:ie(this.step,0,o.steps)}this.zoomed=!1}else this.step=0;this.zoomed||this.resetView(),this.resetPrediction()}refuse(e){this.editing=!0,e.place&&(this.marks=[{line:e.place.line,column:e.place.column,message:e.message}]),e.field&&(this.faults={[e.field]:e.message}),this.updateComplete.then(()=>{if(this.editor?.setMarks(this.marks),e.field)return this.focusFault();let t=[...this.renderRoot.querySelectorAll(".argument input")];e.place||(t[e.argument??-1]??t.find(n=>!n.value))?.focus()})}get launchedKernel(){let e=this.runs.find(t=>t.response?.kernels?.length)?.response?.kernels??[];return e.find(t=>t.name===this.request?.kernel)??e[0]}missing(){let e=(this.launchedKernel?.parameters??[]).filter((t,n)=>!this.request?.arguments[n]);return e.length===0||!this.runs.some(t=>t.response?.status==="error")?"":`Missing arguments, in the form below: ${e.map(t=>`${t.name}: ${/64$/.test(t.type)?"an array such as u32[32], or u32[32]=iota":`a number of type ${t.type}, such as 32`}`).join("; ")}. Then press Run.`}stopRuns(){this.abort?.abort(),this.runs=this.runs.map(e=>e.busy?{...e,busy:!1,failure:"You have stopped this run."}:e)}get model(){return this.modelOf(this.runs[this.main])}modelOf(e){let t=e?.launch;if(!t?.warps.length)return;let n=this.runs[this.main]?.launch;if(t===n||!n?.warps[this.warpIndex])return t.warp(Math.min(this.warpIndex,t.warps.length-1));let{cta:i,warp:o}=n.warps[this.warpIndex],a=t.findWarp(i,o);return a<0?void 0:t.warp(a)}get asking(){return this.predict&&this.step===this.revealed&&!!this.model?.asksAt(this.step)}get longest(){return Math.max(0,...this.runs.map(e=>this.modelOf(e)?.steps??0))}resetView(){let e=this.runs.map(a=>this.modelOf(a)).filter(a=>a!==void 0),t=Math.max(0,...e.map(a=>a.steps)),n=e.filter(a=>a.launch.outcome==="done").map(a=>a.steps),i=n.length?Math.min(...n):t,o=(n.length&&e.some(a=>a.launch.outcome!=="done")?Math.max(...n):Math.min(t,Math.max(i*3,80)))+1;this.view={from:0,to:o},this.keepInView()}keepInView(){let e=this.view;if(!e||this.step>=e.from&&this.step<e.to)return;let t=e.to-e.from,n=this.longest+1,i=ie(Math.round(this.step-(this.step<e.from?t*.75:t*.25)),0,Math.max(0,n-t));this.view={from:i,to:i+t}}get last(){return Math.min(this.revealed,this.longest)}go(e){let t=ie(e,0,this.last);t!==this.step&&(this.verdict=void 0),this.predict&&e>this.revealed&&this.updateComplete.then(()=>this.renderRoot.querySelector(".question")?.focus()),this.step=t,this.keepInView(),this.remember(),this.post(this.report())}remember(){if(clearTimeout(this.rememberTimer),!this.example||this.changed||parent!==window)return;let e=`#example=${this.example.id}&step=${this.step+1}`;this.rememberTimer=window.setTimeout(()=>history.replaceState(null,"",e),200)}get changed(){let e=t=>JSON.stringify([t.source,t.kernel||"",t.grid,t.block,t.arguments,t.warp||32,t.shared||0,t.cluster??[0,0,0],!!t.cooperative,t.seed||0]);return!!this.example&&!!this.request&&e(this.example.request)!==e(this.request)}turn(e){let t=this.model;if(!t)return;let n=t.turningPoints(),i=e>0?n.find(o=>o>this.step):n.findLast(o=>o<this.step);this.go(i??(e>0?t.steps:0))}runTo(e){let t=this.model;if(!t)return;let n=t.nextAtLine(this.step,i=>e.source?i.sourceLine===e.line&&i.sourceFile===e.file:i.line===e.line);if(n>=0)return this.go(n);this.hover=`The warp never executes line ${e.line}.`}togglePlay(){if(this.playing||!this.last)return this.pause();this.step>=this.last&&this.go(0),this.playing=!0,this.timer=window.setInterval(()=>{this.step>=this.last?this.pause():this.go(this.step+1)},Di)}pause(){clearInterval(this.timer),this.playing=!1}nextQuestion(e){let t=this.model;if(!t)return 1/0;for(let n=e;n<t.steps;n++)if(t.asksAt(n))return n;return 1/0}resetPrediction(){this.verdict=void 0,this.picked=D,this.revealed=this.predict?this.nextQuestion(this.step):1/0}setPredict(e){this.predict=e,this.pause(),this.resetPrediction()}pick(e){this.verdict=void 0,this.picked=R(this.picked,e)?B(this.picked,Ne([e])):Z(this.picked,Ne([e]))}check(){let e=this.model,t=e.active(this.step+1),n=Z(B(t,this.picked),B(this.picked,t));if(he(t,this.picked)){let a=Re(e,this.step);this.reveal({right:!0,text:`Right: ${W(t,e.lanes)} ${U(t)===1?"runs":"run"} next, at line ${e.line(this.step+1)}. ${a.rest.replace(/^[^.]*\.\s*/,"")}`});return}let i=/^@!?(%\w+)/.exec(e.instructionAt(this.step).text)?.[1],o=i?` Look at ${i} of each lane, and which side the policy runs first.`:" Look at the groups of lanes, and for what each waits.";i&&(this.register=i),this.verdict={right:!1,text:`Not yet: ${U(n)===1?"one lane is":`${U(n)} lanes are`} different.${o}`}}reveal(e){this.verdict=e,this.picked=D,this.revealed=this.nextQuestion(this.step+1),this.updateComplete.then(()=>this.renderRoot.querySelector(".verdict")?.focus())}giveUp(){let e=this.model,t=e.active(this.step+1);this.reveal({right:!1,text:`${W(t,e.lanes)[0].toUpperCase()}${W(t,e.lanes).slice(1)} ${U(t)===1?"runs":"run"} next, at line ${e.line(this.step+1)}.`})}async openFiles(e){let t=[...e].slice(0,8);if(t.length===0)return;let n=await Promise.all(t.map(async o=>({name:o.name,bytes:new Uint8Array(await o.arrayBuffer())}))),i=n.find(o=>/\.(ptx|cu)$/i.test(o.name));i&&this.engine?(this.example=void 0,this.setRequest({name:i.name,source:new TextDecoder().decode(i.bytes),kernel:"",grid:[1,1,1],block:[32,1,1],arguments:[]}),this.runs=[],this.editing=!0,await this.runAll()):this.openBytes(n)}share(){let e=this.model;if(!this.request)return;let t;try{t=En({request:this.request,policies:this.policies,policy:this.runs[this.main]?.label,step:this.step,cta:e?.info.cta,warp:e?.info.warp,lane:this.lane>=0?this.lane:void 0,register:this.register||void 0,hex:this.hex||void 0,pane:this.pane,view:this.view,predict:this.predict||void 0})}catch(n){this.message=n.message;return}history.replaceState(null,"",t),this.link=location.href,navigator.clipboard?.writeText(this.link).catch(()=>{}),this.updateComplete.then(()=>{let n=this.renderRoot.querySelector("dialog.link");n?.showModal(),n?.querySelector("input")?.select()})}post(e){parent!==window&&parent.postMessage(e,"*")}report(){let e=this.model;return{gemu:"state",step:this.step,steps:e?.steps??0,line:e?.line(this.step)??0,policy:this.runs[this.main]?.label??"",sentence:e?ht(Re(e,this.step,this.asking)):"",height:document.documentElement.scrollHeight}}closeEditor(){this.editor?.destroy(),this.editor=void 0}async openEditor(e){if(!(this.editor||e.dataset.loading)){e.dataset.loading="1";try{let t=globalThis.gemuEditor?.()??new URL("./editor.js",import.meta.url).href,{createEditor:n}=await import(t);if(!e.isConnected)return;e.textContent="",this.editor=n({parent:e,root:this.renderRoot,text:this.request?.source??"",label:"Program",run:()=>this.runEdited()}),this.marks.length&&this.editor.setMarks(this.marks)}catch(t){e.textContent=`The editor cannot be loaded: ${t.message}`}delete e.dataset.loading}}runEdited(){let e=this.renderRoot.querySelector("form.launch");if(!e||!this.request)return;let t=new FormData(e),n=a=>String(t.get(a)??""),{launch:i,faults:o}=Tn({grid:n("grid"),block:n("block"),cluster:n("cluster"),shared:n("shared"),seed:n("seed"),cooperative:t.has("cooperative")});if(this.faults=o,Object.keys(o).length){this.focusFault();return}this.setRequest({...this.request,source:this.editor?.text??this.request.source,kernel:n("kernel"),...i,warp:Number(t.get("warp"))||32,arguments:t.getAll("argument").map(a=>String(a).trim()).filter((a,l,h)=>a||l<h.length-1)}),this.runAll()}async focusFault(){await this.updateComplete;let e=this.renderRoot.querySelector("form.launch [aria-invalid=true]");e?.closest("details")?.setAttribute("open",""),e?.focus()}updated(e){let t=this.renderRoot.querySelector(".editor-host");t?this.openEditor(t):this.closeEditor(),(e.has("main")||e.has("warpIndex"))&&this.keepInView();let n=this.model;document.title=n?`${n.launch.kernel} – gemu`:"gemu: see warps run"}header(){let e=this.model?.launch;return f`<header>
<span class="brand" aria-hidden="true">ge<b>mu</b></span>
${this.examples.length?f`<label class="field"><span class="hidden">Example</span><select aria-label="Example" @change=${t=>this.chooseExample(t.target.value)}>
            ${this.example?v:f`<option selected value="">Your program</option>`}
            ${this.examples.map((t,n)=>f`<option value=${t.id} ?selected=${t.id===this.example?.id}>${n+1}. ${t.title}</option>`)}
          </select></label>`:v}
      <h1>${this.example?.title??e?.kernel??"See warps run"}</h1>
      ${e?f`<span class="shape">${this.example?f`kernel <span class="mono">${e.kernel}</span>, `:""}${Fi(e)}</span>`:v}
      <nav aria-label="Page">
        ${this.engine?f`<button aria-pressed=${this.editing} @click=${()=>this.editing=!this.editing} ?disabled=${!this.request}>Edit</button>`:v}
        <button @click=${()=>this.renderRoot.querySelector("#file").click()}>Open…</button>
        <input id="file" type="file" hidden multiple aria-label="Recordings" @change=${t=>this.openFiles(t.target.files??[])} />
        ${this.engine?f`<button @click=${this.share} ?disabled=${!this.request}>Share</button>`:v}
        <button aria-expanded=${this.help} @click=${()=>this.help=!this.help}>Help</button>
      </nav>
    </header>`}chooseExample(e){let t=this.examples.find(n=>n.id===e);t&&this.openExample(t)}intro(){let e=this.example;if(!e)return v;let t=e.moment;return f`<section class="intro" aria-label="Example">
<p class="ask"><b>${ve(e.question.replace(/\s+/g," ").trim())}</b></p>
${t?f`<button @click=${()=>this.toMoment(t)}>Show the moment</button>`:v}
      ${this.changed?f`<span class="soft">changed <button class="small" @click=${()=>this.openExample(e)}>Restore</button></span>`:v}
      ${e.text?f`<details><summary>Read</summary><div class="prose">${ds(e.text.split(/^## Question$/m)[0])}${e.cuda&&!e.text.includes("```cuda")?f`<pre tabindex="0" aria-label="CUDA C">${e.cuda}</pre>`:v}</div></details>`:v}
      ${e.answer?f`<details><summary>Answer</summary><div class="prose">${ds(e.answer)}</div></details>`:v}
    </section>`}toMoment(e){let t=this.runs.findIndex(n=>n.label===e.policy&&n.launch);t>=0&&(this.main=t),this.warpIndex=Math.max(0,this.runs[this.main]?.launch?.findWarp(0,e.warp??0)??0),this.predict&&this.setPredict(!1),this.go(e.step-1)}transport(){let e=this.model;if(!e)return v;let t=e.steps,n=t===0?"no step was recorded":this.step>=t?`the end, after ${Se(t,"step")}`:`step ${(this.step+1).toLocaleString("en")} of ${this.predict&&this.revealed<t?"?":t.toLocaleString("en")}`;return f`<div class="transport" role="toolbar" aria-label="Steps">
<div class="buttons">
<button class="icon" aria-label="To the start" title="To the start (Home)" @click=${()=>this.moved(()=>this.go(0))} ?disabled=${this.step===0}>${Ie("start")}</button>
<button class="icon" aria-label="Previous split" title="Previous split or reconvergence (Shift ←)" @click=${()=>this.moved(()=>this.turn(-1))} ?disabled=${this.step===0}>${Ie("previous")}</button>
<button class="icon" aria-label="Step back" title="Step back (←)" @click=${()=>this.moved(()=>this.go(this.step-1))} ?disabled=${this.step===0}>${Ie("back")}</button>
<button class="icon play" aria-label=${this.playing?"Pause":"Play"} title="Play (space)" @click=${this.togglePlay} ?disabled=${t===0}>${Ie(this.playing?"pause":"play")}</button>
<button class="icon primary" aria-label="Step" title="Step (→)" @click=${()=>this.moved(()=>this.go(this.step+1))} ?disabled=${this.step>=this.last&&!this.asking}>${Ie("forward")}</button>
<button class="icon" aria-label="Next split" title="Next split or reconvergence (Shift →)" @click=${()=>this.moved(()=>this.turn(1))} ?disabled=${this.step>=this.last}>${Ie("next")}</button>
<button class="icon" aria-label="To the end" title="To the end (End)" @click=${()=>this.moved(()=>this.go(this.last))} ?disabled=${this.step>=this.last}>${Ie("end")}</button>
</div>
<input type="range" min="0" max=${Number.isFinite(this.revealed)?Math.min(this.revealed,t):Math.max(t,this.last)} .value=${String(this.step)} aria-label="Step" aria-valuetext=${n} @input=${i=>this.moved(()=>this.go(Number(i.target.value)))} />
<output class="position">${n}</output>
<label class="check"><input type="checkbox" .checked=${this.predict} @change=${i=>this.setPredict(i.target.checked)} /> Predict first</label>
</div>`}moved(e){this.pause(),e()}say(){let e=this.model;if(!e)return v;let t=Re(e,Math.min(this.step,e.steps),this.asking);return f`<div class="say">
<p class="sentence" role="status" aria-live="polite" aria-atomic="true"><b>${t.head}</b>${t.code?f` <code>${t.code}</code> `:". "}<span>${t.rest}</span></p>
      <p class="hover" aria-hidden="true">${this.hover||f`<span class="faint">Point at a strip, a line or a lane: what it does is explained here.</span>`}</p>
    </div>`}strip(e,t){let n=this.modelOf(e),i=t===this.main,o=this.model;if(!n)return f`<section class="strip" aria-label="Policy ${e.label}"><div class="strip-title"><b class="mono">${e.label}</b> ${e.busy?f`<span class="soft">running…</span>`:f`<span class="bad">${e.launch?"The recording has no events of this warp.":e.failure.split(`
`)[0]}</span>`} ${this.stripTools(e)}</div></section>`;let a=this.runs.filter(c=>c.launch).length,l=n.launch.warpSize,h=l<=8?13:Math.max(3,Math.round((a===1?6:a===2?4.5:3.5)*32/Math.max(l,16)));return f`<section class="strip ${i&&a>1?"chosen":""}" aria-label="Policy ${e.label}">
<gemu-strip .model=${n} .step=${Math.min(this.step,n.steps)} .label=${e.label} .laneHeight=${h} .view=${this.view} .revealed=${this.predict?this.revealed:1/0} .other=${i?void 0:o} .otherLabel=${this.runs[this.main]?.label??""} .lane=${this.lane} .lines=${this.lines}>
${a>1?f`<button slot="title" class="pick" aria-pressed=${i} title="Show the state of this run: ${bs(this.known,e.label)}" @click=${()=>this.choose(t)}>${e.label}</button>`:f`<span slot="title" title=${bs(this.known,e.label)}>${e.label}</span>`}
        <span slot="tools">${e.busy?f`<span class="busy" role="status">running…</span>`:v}${this.stripTools(e)}</span>
      </gemu-strip>
    </section>`}choose(e){let t=this.model?.info;this.main=e;let n=this.runs[e]?.launch;t&&n&&(this.warpIndex=Math.max(0,n.findWarp(t.cta,t.warp))),this.resetPrediction()}stripTools(e){return!this.engine||!this.request?v:f`${e.busy?f`<button class="small" @click=${this.stopRuns}>Stop</button>`:v}${this.policies.length>1?f`<button class="small" aria-label="Remove ${e.label}" title="Remove" @click=${()=>this.removePolicy(e.label)}>✕</button>`:v}`}removePolicy(e){this.policies=this.policies.filter(t=>t!==e),this.runs=this.runs.filter(t=>t.label!==e),this.main=ie(this.main,0,this.runs.length-1),this.resetView(),this.resetPrediction()}addPolicy(e){let t=e.target,n=t.value.trim();t.value="",!(!n||this.policies.includes(n)||this.policies.length>=8)&&(this.policies=[...this.policies,n],this.runAll(n))}timeline(){let e=this.runs.map((t,n)=>this.strip(t,n));return f`<section class="time" aria-label="Time">
<div class="bar"><h2>Every step of every lane</h2>
${this.engine&&this.request?f`<label class="field">add a policy <select @change=${this.addPolicy}><option value="">…</option>${this.known.filter(t=>!this.policies.includes(t.name)).map(t=>f`<option value=${t.name} title=${t.doc}>${t.name}</option>`)}</select></label>
              <label class="field">time slice <input class="slice" type="number" min="1" max="4096" placeholder="its:N" @change=${t=>this.addSlice(t)} /></label>`:v}
        <span class="soft hint">drag to zoom</span>
      </div>
      ${e}
    </section>`}addSlice(e){let t=e.target,n=Math.floor(Number(t.value));if(t.value="",n<1)return;let i=`its:${n}`;this.policies.includes(i)||this.policies.length>=8||(this.policies=[...this.policies,i],this.runAll(i))}card(){if(this.message)return f`<section class="card bad-card" role="alert"><h2>${this.runs.length&&!this.model?"The program does not run":"gemu says"}</h2><pre>${this.message}</pre>${this.missing()?f`<p>${this.missing()}</p>`:v}</section>`;let e=this.runs[this.main],t=this.model,n=e?.launch?.trap,i=n&&t&&(n.cta!==t.info.cta||n.warp!==t.info.warp)?e.launch.findWarp(n.cta,n.warp)+1:0;if(!e?.launch||e.launch.outcome==="done"||!t||!i&&this.step<t.steps-1||this.predict&&this.revealed<t.steps)return v;if(e.launch.outcome==="stopped")return f`<section class="card" aria-label="How the run ends"><h2>Stopped</h2><p>${pe(pt(e.launch))}. Later steps are not shown.</p></section>`;let o=e.response?.message||e.launch.error;return f`<section class="card bad-card" aria-label="How the run ends"><h2>${Ge(e.launch)?"Deadlock":"The kernel has failed"}</h2>${Ge(e.launch)?f`<p>Lanes wait for something that no lane will ever do. gemu says:</p>`:v}<pre tabindex="0" aria-label="Message">${o}</pre>${i?f`<button @click=${()=>(this.chooseWarp(i-1),this.go(this.model.steps))}>Go to CTA ${e.launch.ctaName(n.cta)} warp ${n.warp}</button>`:v}</section>`}question(){let e=this.model;if(!this.asking)return this.verdict?f`<p class="verdict ${this.verdict.right?"good":"no"}" role="status" tabindex="-1">${this.verdict.right?"✓ ":""}${this.verdict.text}</p>`:v;let t=B(e.lanes,e.ended(this.step+1));return f`<div class="question" tabindex="-1" role="group" aria-label="Prediction">
<p><b>Which lanes run next?</b> Press them in the cells below, then check. The future is not drawn yet.</p>
<div class="buttons">
<button @click=${()=>this.pickAll(t)}>All</button><button @click=${()=>this.pickAll(D)}>None</button><button @click=${()=>this.pickAll(B(t,this.picked))}>Invert</button>
<button class="primary" @click=${this.check} ?disabled=${C(this.picked)}>Check</button><button @click=${this.giveUp}>Show me</button>
<span class="soft">${C(this.picked)?"none chosen":W(this.picked,e.lanes)}</span>
</div>
${this.verdict?f`<p class="verdict no" role="status" tabindex="-1">${this.verdict.text}</p>`:v}
    </div>`}pickAll(e){this.verdict=void 0,this.picked=e}warps(){let e=this.runs[this.main]?.launch;if(!e||e.warps.length<2)return v;let t=this.model.eventOf(this.step),n=e.warps.length<=64?e.warps:e.warps.slice(0,64);return f`<details class="warps" open>
<summary>${Se(e.warps.length,"warp")} at this moment</summary>
<div class="warp-list" role="group" aria-label="Warps">
${n.map((i,o)=>{let a=e.warp(o),l=o===this.warpIndex?this.step:a.stepAtEvent(t),h=a.instructionAt(Math.min(l,a.steps-1))?.block??-1,c=U(a.active(l)),p=l>=a.steps;return f`<button aria-pressed=${o===this.warpIndex} style=${le(h)} @click=${()=>this.chooseWarp(o)} title="${p?"ended":`${c} of ${U(a.lanes)} lanes at line ${a.line(l)}`}">
            <span class="mono">${e.grid.some(u=>u>1)?e.ctaName(i.cta)+" ":""}w${i.warp}</span>
            ${U(a.lanes)<e.warpSize?f`<span class="soft">${U(a.lanes)} of ${e.warpSize}</span>`:v}${this.predict?v:f`<span class="soft">${Se(a.steps,"step")}</span>`}${e.trap?.cta===i.cta&&e.trap.warp===i.warp?f`<span class="bad">✕<span class="hidden"> failed</span></span>`:v}
            ${p?f`<span class="soft">end</span>`:f`<span class="letter">${e.blocks[h]?.letter??""}</span><span class="meter" aria-hidden="true"><i style="width:${c/e.warpSize*100}%"></i></span>`}
          </button>`})}
        ${e.warps.length>n.length?f`<label class="field">another <select @change=${i=>this.chooseWarp(Number(i.target.value))}>${e.warps.slice(0,4096).map((i,o)=>f`<option value=${o} ?selected=${o===this.warpIndex}>CTA ${e.ctaName(i.cta)} warp ${i.warp}</option>`)}</select></label>`:v}
      </div>
    </details>`}chooseWarp(e){let t=this.model.eventOf(this.step);this.warpIndex=e,this.step=this.model.stepAtEvent(t),this.keepInView(),this.resetPrediction()}results(){let e=this.runs[this.main]?.response?.outputs??[];return e.length===0?f`<p class="soft">${this.request?"The run has no results.":"A recording has no results of buffers; see the registers at the stores."}</p>`:e.map(t=>f`<h3 class="mono">${t.name??`argument ${t.argument}`} <span class="soft">${t.type}[${t.length}], at the end</span></h3>
        <div class="scroll" tabindex="0" role="region" aria-label="Values of ${t.name??`argument ${t.argument}`}"><ol class="values">${t.values.map((n,i)=>f`<li><span class="soft">${i}</span>${n}</li>`)}</ol></div>`)}panes(){let e=this.model,t=Math.min(this.step,e.steps),n=_i.filter(([a])=>a!=="results"||(this.runs[this.main]?.response?.outputs?.length??0)>0),i=n.some(([a])=>a===this.pane)?this.pane:"registers",o=this.asking;return f`<section class="panes" aria-label="State">
<div class="tabs" role="tablist" aria-label="Views" @keydown=${a=>this.tabKey(a,n.map(([l])=>l),i)}>
${n.map(([a,l])=>f`<button role="tab" id="tab-${a}" aria-selected=${i===a} aria-controls="pane" tabindex=${i===a?0:-1} @click=${()=>this.pane=a}>${l}</button>`)}
      </div>
      <div id="pane" role="tabpanel" aria-labelledby="tab-${i}">
        ${i==="registers"?f`<gemu-registers .model=${e} .step=${t} .hex=${this.hex} .register=${this.register} .lane=${this.lane}></gemu-registers>`:v}
        ${i==="memory"?f`<gemu-memory .model=${e} .step=${t}></gemu-memory>`:v}
        ${i==="flow"?f`<gemu-flow .model=${e} .step=${t} .hideNext=${o}></gemu-flow>`:v}
        ${i==="results"?this.results():v}
      </div>
    </section>`}tabKey(e,t,n){let i=e.key==="ArrowRight"?1:e.key==="ArrowLeft"?-1:0;!i||e.shiftKey||(e.preventDefault(),e.stopPropagation(),this.pane=t[(t.indexOf(n)+i+t.length)%t.length],this.updateComplete.then(()=>this.renderRoot.querySelector(`#tab-${this.pane}`)?.focus()))}field(e,t,n,i=""){let o=this.faults[e];return f`<span class="one"><label>${t} <input name=${e} size="7" .value=${n} placeholder=${i} spellcheck="false" autocomplete="off" aria-invalid=${o?"true":"false"} aria-describedby=${o?`fault-${e}`:v} /></label>${this.fault(e)}</span>`}fault(e){return this.faults[e]?f`<span class="fault bad" id="fault-${e}" role="alert">${this.faults[e]}</span>`:v}form(){let e=this.request,t=this.runs.find(a=>a.response?.kernels?.length)?.response?.kernels??[],n=this.launchedKernel,i=Math.max(n?.parameters.length??0,e.arguments.length,1),o=this.runs.find(a=>a.response?.argument!==void 0)?.response;return f`<section class="edit" aria-label="Program and launch">
<div class="bar"><h2>${e.name}</h2><span class="soft">Ctrl+Enter runs; the place stays</span></div>
<div class="editor-host" style="height:min(52vh,520px)"><p class="soft">The editor is loading…</p></div>
<form class="launch" novalidate @submit=${a=>(a.preventDefault(),this.runEdited())}>
${t.length>1?f`<label>kernel <select name="kernel">${t.map(a=>f`<option ?selected=${a.name===(e.kernel||n?.name)}>${a.name}</option>`)}</select></label>`:f`<input type="hidden" name="kernel" .value=${e.kernel??""} />`}
        ${this.field("grid","grid",e.grid.map(a=>a||1).join(","))}
        ${this.field("block","block",e.block.some(a=>a)?e.block.join(","):n?.block?"":"32",n?.block?.join(",")??"")}
        <label>lanes of a warp <select name="warp" aria-invalid=${this.faults.warp?"true":"false"}>${Ln.map(a=>f`<option ?selected=${a===(e.warp||32)}>${a}</option>`)}</select></label>
        ${Array.from({length:i},(a,l)=>{let h=n?.parameters[l],c=o?.argument===l;return f`<label class="argument">${h?f`<span class="mono">${h.name}</span> <span class="soft">${h.type}</span>`:`argument ${l}`} <input name="argument" list="arguments" .value=${e.arguments[l]??""} aria-invalid=${c?"true":"false"} spellcheck="false" autocomplete="off" /></label>`})}
        <datalist id="arguments">${["u32[32]","u32[32]=iota","f32[64]=1","f32[1024]=iota","s32[32]=-1","32","2.0"].map(a=>f`<option value=${a}></option>`)}</datalist>
        <details class="more" ?open=${!!(e.cluster||e.shared||e.seed||e.cooperative)}>
          <summary>Shared memory, clusters, schedule</summary>
          <div class="launch">
            ${this.field("shared","shared memory of a block, in bytes",e.shared?String(e.shared):"","0")}
            ${this.field("cluster","blocks of a cluster",e.cluster?.join(",")??"","none")}
            ${this.field("seed","seed of the schedule",e.seed?String(e.seed):"","0")}
            <label class="check"><input type="checkbox" name="cooperative" .checked=${!!e.cooperative} aria-invalid=${this.faults.cooperative?"true":"false"} aria-describedby=${this.faults.cooperative?"fault-cooperative":v} /> cooperative: all blocks run at the same time</label>${this.fault("cooperative")}
          </div>
        </details>
        <button class="primary" type="submit">Run</button>
        ${this.runs.some(a=>a.busy)?f`<button type="button" @click=${this.stopRuns}>Stop</button>`:v}
      </form>
    </section>`}helpText(){return this.help?f`<section class="card help" aria-label="Help"><div>
<h2>What the pictures show</h2>
<p>A <b>warp</b> is 32 threads, its <b>lanes</b>, that execute an instruction together. In a strip each row is a lane and each column a step. A <b>filled</b> cell executes; a <b>pale</b> cell waits; a <b>dotted</b> line is a lane that has ended. Colour and letter name the basic block of the program: a block is lines that are executed from the first to the last.</p>
<p>Each strip is the same kernel under another <b>policy</b>: the rule that decides which lanes run next. The playhead is at the same step in all of them. Press the name of a policy to see its state.</p></div><div>
<h2>Keys</h2>
<dl><dt>→ ←</dt><dd>step, step back</dd><dt>Shift → ←</dt><dd>next, previous split or reconvergence</dd><dt>Home End</dt><dd>start, end</dd><dt>Space</dt><dd>play, pause</dd><dt>+ − 0</dt><dd>in a strip: zoom in, out, all steps</dd><dt>↑ ↓</dt><dd>in the lines, the registers, the lanes: the next, the previous</dd></dl>
<p>Press a line number to run to the line. Press a lane to follow it. Press a register to see its values in the cells. Drop a recording of <code>gemu record FILE --with all</code> anywhere to open it.</p></div>
</section>`:v}render(){let e=this.model,t=e?Math.min(this.step,e.steps):0;return f`<div
class="page ${this.dropping?"dropping":""}"
@dragover=${n=>(n.preventDefault(),this.dropping=!0)}
@dragleave=${n=>n.relatedTarget===null&&(this.dropping=!1)}
@drop=${n=>(n.preventDefault(),this.dropping=!1,void this.openFiles(n.dataTransfer?.files??[]))}
>
${this.header()}
<main>
${this.helpText()} ${this.intro()} ${e?f`<div class="sticky">${this.transport()} ${this.say()}</div>`:v} ${this.card()}
          ${this.runs.length?this.timeline():v}
          ${!e&&!this.message&&!this.runs.length?this.empty():v}
          ${this.editing&&this.request?this.form():v}
          ${e?f`<div class="columns">${this.narrow?[this.warp(e,t),this.program(e,t)]:[this.program(e,t),this.warp(e,t)]}</div>
${this.panes()}`:v}
        </main>
      </div>
      <dialog class="link" aria-label="Link">
        <form method="dialog"><h2>A link to this program, at this place</h2><p class="soft">The link holds the program and the launch; no server stores them. It is copied.</p><input readonly aria-label="Link" .value=${this.link} /><button class="primary">Close</button></form>
      </dialog>`}program(e,t){return f`<section class="program" aria-label="Program"><div class="bar"><h2>Program</h2><span class="soft">${this.runs[this.main].label}: lanes at each line</span></div>
<gemu-program .model=${e} .step=${t} .register=${this.register} .hideNext=${this.asking}></gemu-program></section>`}warp(e,t){return f`<section class="state" aria-label="Warp"><div class="bar"><h2>${ji(e)}</h2><span class="soft">${this.lane>=0?f`lane ${this.lane} <button class="small" @click=${()=>this.lane=-1}>let go</button>`:""}</span></div>
      ${this.question()} ${this.warps()}
      <gemu-warp .model=${e} .step=${t} .hex=${this.hex} .register=${this.register} .lane=${this.lane} .asking=${this.asking} .picked=${this.picked}></gemu-warp>
      ${this.asking?v:f`<div class="bar stack-head"><h2>${/^(pc2|frontier)/.test(e.launch.policy)?"Warp splits":"Reconvergence stack"}</h2></div><gemu-stack .model=${e} .step=${t}></gemu-stack>`}</section>`}empty(){return f`<section class="card empty"><h2>${this.engine?"Loading…":"Open a recording"}</h2><p>${this.engine?"The engine starts.":f`Drop a file made by <code>gemu record FILE --with all -o run.gemu</code> here, or press Open. Several files, one for each policy, are shown one below the other.`}</p></section>`}};function Fi(r){let s=e=>e.slice(0,e[2]>1?3:e[1]>1?2:1).join("×");return`grid ${s(r.grid)}, block ${s(r.block)}`}function ji(r){let s=J(r.lanes).length;return`${r.launch.grid.some(e=>e>1)?`CTA ${r.launch.ctaName(r.info.cta)}, w`:"W"}arp ${r.info.warp}, ${Se(s,"lane")}`}var Vi={start:"M4 3v10M13 3L6 8l7 5z",previous:"M8 8l6-5v10zM2 8l6-5v10z",back:"M11 3L4 8l7 5z",play:"M4 2.5v11L13 8z",pause:"M4 3h3v10H4zM9 3h3v10H9z",forward:"M5 3l7 5-7 5z",next:"M8 8L2 3v10zM14 8L8 3v10z",end:"M12 3v10M3 3l7 5-7 5z"},Ie=r=>f`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d=${Vi[r]} fill="currentColor" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round"/></svg>`;customElements.define("gemu-player",xs);var Pn=new WeakMap;function ys(r){let s=Pn.get(r);return s||Pn.set(r,s=Gi(r)),s}function Gi(r){let s=r.sources.find(t=>t.kind==="ptx"),e=[{kind:"ptx",name:s?.name??r.file,lines:s?Un(r,s.text,t=>t.line,!0):Ki(r)}];for(let t of r.sources)t.kind!=="compiled"||!r.instructions.some(n=>n.sourceFile===t.name)||e.push({kind:"compiled",name:t.name,lines:Un(r,t.text,n=>n.sourceFile===t.name?n.sourceLine:0,!1)});return e}function Ki(r){let s=new Map;for(let e of r.instructions){let t=s.get(e.line);t?(t.instructions.push(e),t.text+=` ${e.text};`):s.set(e.line,{number:e.line,text:`	${e.text};`,instructions:[e]})}return[...s.values()].sort((e,t)=>e.number-t.number)}function Un(r,s,e,t){let n=s.split(/\r?\n/),i=new Map,o=[],a=new Map;for(let c of r.instructions){let p=e(c);if(p<1||p>n.length)continue;let u=i.get(p);u?u.push(c):i.set(p,[c]);let d=a.get(c.function);a.set(c.function,[Math.min(d?.[0]??p,p),Math.max(d?.[1]??p,p)])}for(let[c,p]of a.values()){let u=t?/\.(entry|func)\b/:/__(global|device)__|^\S.*\)\s*\{?\s*$/;for(let d=c;d>Math.max(0,c-200);d--)if(u.test(n[d-1])){c=d;break}for(let d=p;d<=Math.min(n.length,p+20);d++)if(/^\}/.test(n[d-1])){p=d;break}o.push([c,p])}o.sort((c,p)=>c[0]-p[0]);let l=[],h=0;for(let[c,p]of o){for(let u=Math.max(c,h+1);u<=p;u++)(!t||!/^\s*\.loc\s/.test(n[u-1]))&&l.push({number:u,text:n[u-1],instructions:i.get(u)??[]});h=Math.max(h,p)}return l}var Zi=/(\/\/.*|\/\*.*?\*\/)|(@!?%\w+)|(%[\w.]+)|(^\s*[\w$]+:)|((?<![\w.])\.[a-z]\w*)|(\b0[xXfFdD][\da-fA-F]+\b|\b\d[\w.]*\b)|((?:^|(?<=[\s;}:]))[a-z][a-z0-9_]*(?:\.[a-z0-9_:]+)*(?=[\s;]))/g;function Hn(r){let s=[],e=0;for(let t of r.matchAll(Zi)){t.index>e&&s.push({kind:"",text:r.slice(e,t.index)});let n=t[1]?"comment":t[2]?"guard":t[3]?"register":t[4]?"label":t[5]?"directive":t[6]?"number":"op";s.push({kind:n,text:t[0]}),e=t.index+t[0].length}return e<r.length&&s.push({kind:"",text:r.slice(e)}),s}var Ze=class{constructor(s,e,t){this.host=s;this.buttons=e;this.preferred=t;this.focused=s=>{let e=this.list;e.includes(s.target)&&this.choose(e,s.target)};this.key=s=>{let e=s.key==="ArrowDown"?1:s.key==="ArrowUp"?-1:0,t=this.list,n=t.indexOf(s.target);!e||n<0||s.ctrlKey||s.altKey||s.metaKey||s.shiftKey||(s.preventDefault(),s.stopPropagation(),t[n+e]?.focus())};s.addController(this)}get list(){return[...this.host.renderRoot.querySelectorAll(this.buttons)]}hostUpdated(){let s=this.list,e=this.host.renderRoot,t=s.find(n=>n===e.activeElement);this.choose(s,t??e.querySelector(this.preferred)??s.find(n=>n.tabIndex===0)??s[0])}choose(s,e){for(let t of s)t.tabIndex=t===e?0:-1}};var $s=22,Ji=8;function Bn(r){let s=[];for(let e of[...r].sort((t,n)=>Math.abs(t.to-t.from)-Math.abs(n.to-n.from))){let[t,n]=[Math.min(e.from,e.to),Math.max(e.from,e.to)];for(;s.some(i=>i.column===e.column&&Math.min(i.from,i.to)<=n&&Math.max(i.from,i.to)>=t);)e.column++;s.push(e)}return s.filter(e=>e.column<Ji)}function ks(r){let s=r.reduce((e,t)=>Math.max(e,t.column+1),0);return s?s*8+14:6}function Wn(r,s,e=()=>!1){let t=ks(r);return f`<svg class="flow" width=${t} height=${s*$s} aria-hidden="true">
${r.map(n=>{let i=e(n)?"taken":"",o=t-8,[a,l,h]=[(n.from+.5)*$s,(n.to+.5)*$s,o-6-n.column*8],c=Math.min(5,Math.abs(l-a)/2),p=l>a?1:-1;return X`<path class=${i} d="M${o} ${a}H${h+c}Q${h} ${a} ${h} ${a+p*c}V${l-p*c}Q${h} ${l} ${h+c} ${l}H${o-3}"/><path class="tip ${i}" d="M${o+1} ${l}l-6 -3.5v7z"/>`})}
  </svg>`}function On(r,s="",e){return r?Hn(r.replaceAll("	","    ")).map(t=>{if(t.kind==="")return t.text;if(t.kind!=="register"&&t.kind!=="guard")return f`<span class=${t.kind==="number"?"number-token":t.kind}>${t.text}</span>`;let n=t.text.replace(/^@!?/,"");return f`<span class="${t.kind} ${n===s?"picked":""}" @click=${e?()=>e(n):v}>${t.text}</span>`}):" "}var Nn=K`
svg.flow {
position: absolute;
left: 4px;
top: 6px;
pointer-events: none;
overflow: visible;
}
svg.flow path {
fill: none;
stroke: var(--edge);
stroke-width: 1.25;
}
svg.flow path.taken {
stroke: var(--accent);
stroke-width: 2.5;
}
svg.flow path.tip {
fill: var(--edge);
stroke: none;
}
svg.flow path.tip.taken {
fill: var(--accent);
}
.op {
color: var(--ink);
font-weight: 600;
}
.register,
.number-token {
color: var(--ink);
}
.register.picked,
.guard.picked {
text-decoration: underline;
text-decoration-thickness: 2px;
text-decoration-color: var(--accent);
}
.guard {
color: var(--accent);
}
.directive,
.comment {
color: var(--soft);
}
.comment {
font-style: italic;
}
.label {
font-weight: 700;
}
`;var As=class extends te{constructor(){super(...arguments);this.rover=new Ze(this,".number button",".row.now .number button");this.language=0;this.hover=0;this.register="";this.hideNext=!1}static{this.properties={language:{state:!0},hover:{state:!0},register:{},hideNext:{attribute:!1}}}static{this.styles=[se,Nn,K`
:host {
min-width: 0;
}
.tabs {
display: flex;
gap: 4px;
margin-bottom: 6px;
}
.tabs button {
min-height: 28px;
font-size: 13px;
}
.scroll {
position: relative;
overflow: auto;
max-height: var(--listing-height, 560px);
border: 1px solid var(--line);
border-radius: 8px;
background: var(--card);
}
.rows {
position: relative;
display: grid;
grid-template-columns: auto auto auto auto minmax(max-content, 1fr);
font: 13px/22px var(--mono);
padding: 6px 0;
min-width: max-content;
counter-reset: none;
}
.row {
display: contents;
}
.row > * {
height: 22px;
white-space: pre;
}
.row.now > * {
background: var(--now);
}
.row:hover > * {
background: color-mix(in srgb, var(--ink) 6%, var(--card));
}
.row.now:hover > * {
background: var(--now);
}
.arcs {
width: var(--arcs);
}
.block {
padding: 0 4px 0 6px;
}
.number {
text-align: right;
}
.number button,
.number span {
display: block;
width: 100%;
min-width: 38px;
min-height: 22px;
height: 22px;
padding: 0 6px;
border: 0;
border-radius: 4px;
background: none;
font: 12px/22px var(--mono);
color: var(--soft);
text-align: right;
}
.number button:hover {
text-decoration: underline;
color: var(--accent);
}
.now .number button {
color: var(--ink);
font-weight: 700;
}
.lanes {
width: 112px;
padding: 0 8px;
}
.lanes svg {
display: block;
width: 96px;
height: 12px;
margin-top: 5px;
}
.lanes .on {
fill: var(--hue);
}
.lanes .hollow {
fill: var(--card);
stroke: var(--hue);
stroke-width: 1;
}
.lanes .rail {
fill: var(--idle);
}
.code {
padding-right: 14px;
}
@media (max-width: 560px) {
.lanes {
width: 72px;
padding: 0 6px 0 2px;
}
.lanes svg {
width: 64px;
}
.rows {
font-size: 12px;
}
.block {
padding: 0 2px;
}
.number button,
.number span {
min-width: 26px;
padding: 0 3px;
}
}
@media (forced-colors: active) {
.row.now > * {
border-block: 2px solid Highlight;
}
.lanes .on {
fill: CanvasText;
}
.lanes .hollow {
fill: Canvas;
stroke: CanvasText;
}
}
`]}updated(e){if(!e.has("step")&&!e.has("model")&&!e.has("language"))return;let t=this.renderRoot.querySelector(".scroll"),n=this.renderRoot.querySelector(".row.now .number");if(!t||!n)return;let[i,o]=[n.offsetTop,t.clientHeight];i<t.scrollTop+30?t.scrollTop=Math.max(0,i-60):i+60>t.scrollTop+o&&(t.scrollTop=i+90-o)}arcs(e){let t=this.model.launch,n=[];for(let i of t.blocks){if(i.instructions===0)continue;let o=i.first+i.instructions-1;for(let a of i.next){let l=t.blocks[a];if(!l||l.first===o+1)continue;let[h,c]=[e.get(o),e.get(l.first)];h!==void 0&&c!==void 0&&n.push({from:h,to:c,column:0,instruction:o,target:l.first})}}return Bn(n)}render(){let e=this.model;if(this.failure)return f`<p>${this.failure}</p>`;if(!e)return v;let t=ys(e.launch),n=t[Math.min(this.language,t.length-1)],i=n.kind==="ptx",o=e.state(this.step),a=o.end?-1:o.instruction,l=new Map;n.lines.forEach((u,d)=>u.instructions.forEach(y=>l.set(y.index,d)));let h=i?this.arcs(l):[],c=ks(h),p=this.hideNext||o.end?[]:e.outcome(this.step).groups.map(u=>u.instruction);return f`${t.length>1?f`<div class="tabs" role="group" aria-label="Language">${t.map((u,d)=>f`<button aria-pressed=${d===this.language} @click=${()=>this.language=d}>${u.kind==="ptx"?"PTX":u.name.split("/").pop()}</button>`)}</div>`:v}
      <div class="scroll" tabindex="0" role="region" aria-label="Lines of the program">
        <div class="rows" role="table" aria-label="Lines of ${n.name}, with the lanes at each" @keydown=${this.rover.key} @focusin=${this.rover.focused} style="--arcs:${c}px">
          <div class="hidden" role="rowgroup"><div role="row"><span role="columnheader">block</span><span role="columnheader">line</span><span role="columnheader">lanes</span><span role="columnheader">code</span></div></div>
          <div role="rowgroup" style="display:contents">${n.lines.map(u=>this.row(u,o,a,i))}</div>
          ${Wn(h,n.lines.length,u=>u.instruction===a&&p.includes(u.target))}
        </div>
      </div>`}row(e,t,n,i){let o=this.model,a=e.instructions[0],l=e.instructions.some(u=>u.index===n),h=a?a.block:-1,p=i&&a&&o.launch.blocks[h]?.first===a.index?o.launch.blocks[h].letter:"";return f`<div class="row ${l?"now":""}" role="row" @pointerenter=${()=>this.point(e)} @pointerleave=${()=>this.point(void 0)}>
<span class="arcs" aria-hidden="true"></span>
<span class="block" role="cell">${p?f`<span class="letter" style=${le(h)}>${p}</span>`:v}</span>
      <span class="number" role="cell">${a?f`<button title="Run to line ${e.number}" aria-label="Run to line ${e.number}" aria-current=${l?"step":v} @click=${()=>this.send("gemu-run-to",{line:e.number,source:!i,file:i?"":this.file})}>${e.number}</button>`:f`<span>${e.number}</span>`}</span>
      <span class="lanes" role="cell">${a?this.lanes(e.instructions,t):v}</span>
      <span class="code" role="cell">${i?On(e.text,this.register,u=>this.send("gemu-register",{name:u})):e.text.replaceAll("	","    ")||" "}</span>
    </div>`}get file(){return ys(this.model.launch)[this.language]?.name??""}point(e){let t=this.model,n=this.language===0;if(this.send("gemu-lines",{lines:e?new Set(e.instructions.map(c=>c.line)):new Set}),!e||e.instructions.length===0)return this.send("gemu-hover",{text:""});let i=t.state(this.step),o=i.groups.filter(c=>e.instructions.some(p=>p.index===c.instruction)),a=0;for(let c=0;c<t.steps;c++)e.instructions.some(p=>p.index===t.instruction[c])&&a++;let l=this.hideNext?"":` The warp executes it ${a===1?"once":a===0?"never":`${a.toLocaleString("en")} times`}.`,h=o.map(c=>`${W(c.lanes,t.lanes)} ${Ke(t,c,i.groups)}`).join("; ");this.send("gemu-hover",{text:`Line ${e.number}: ${n?e.instructions.map(c=>c.text).join("; "):e.text.trim()}.${l}${h?` Now ${h}.`:""}`})}lanes(e,t){let n=this.model,[i,o]=[D,D];for(let p of t.groups)e.some(u=>u.index===p.instruction)&&(p.reason==="runs"?i=Z(i,p.lanes):o=Z(o,p.lanes));let a=Z(i,o);if(C(a))return v;let l=n.launch.warpSize,h=[C(i)?"":`${W(i,n.lanes)} ${U(i)===1?"runs":"run"}`,C(o)?"":`${W(o,n.lanes)} ${U(o)===1?"waits":"wait"}`].filter(Boolean).join(", "),c=96/l;return f`<svg viewBox="0 0 96 12" preserveAspectRatio="none" style=${le(e[0].block)} role="img" aria-label=${h}>
<rect class="rail" x="0" y="5" width="96" height="2"></rect>
${Array.from({length:l},(p,u)=>R(a,u)?X`<rect class=${R(i,u)?"on":"hollow"} x=${u*c+.4} y="1" width=${c-.8} height="10"/>`:v)}
    </svg>`}};customElements.define("gemu-program",As);function Lt(r,s){return r.length<=s?r:"…"+r.slice(-(s-1))}var Yi={runs:"runs",masked:"masked",ready:"waits",joins:"waits",barrier:"waits",collective:"waits",waits:"waits",stuck:"waits",ended:"ended",absent:"absent"},Ms=class extends te{constructor(){super(...arguments);this.register="";this.lane=-1;this.asking=!1;this.picked={lo:0,hi:0};this.focusLane=0;this.hex=!1}static{this.properties={register:{},hex:{type:Boolean},lane:{attribute:!1},asking:{type:Boolean},picked:{attribute:!1},focusLane:{state:!0}}}static{this.styles=[se,K`
.cells {
display: grid;
grid-template-columns: repeat(var(--columns, 16), minmax(0, 1fr));
gap: 4px;
}
.cell {
position: relative;
min-width: 0;
min-height: 46px;
padding: 2px 0 3px;
border-radius: 6px;
border: 2px solid var(--hue);
background: var(--card);
color: var(--ink);
text-align: center;
font: 11px/1.25 var(--mono);
overflow: hidden;
}
.cell .n {
display: flex;
justify-content: space-between;
padding: 0 3px;
font-size: 10.5px;
}
.cell b {
display: block;
font-size: 12px;
font-weight: 700;
letter-spacing: -0.04em;
margin-top: 2px;
}
.cell.runs {
background: var(--hue);
color: var(--on);
}
.cell.masked {
background: repeating-linear-gradient(135deg, transparent 0 4px, color-mix(in srgb, var(--hue) 38%, transparent) 4px 6px);
}
.cell.waits {
border-style: solid;
}
.cell.joins {
border-style: double;
border-width: 4px;
padding: 0 0 1px;
}
.cell.ended,
.cell.absent {
border: 1.5px dashed var(--edge);
color: var(--soft);
}
.cell.absent {
border-style: none;
background: transparent;
}
.cell[aria-pressed='true'] {
outline: 3px solid var(--accent);
outline-offset: 0;
font-weight: 400;
}
.asking .cell {
background: var(--card);
color: var(--ink);
border: 2px dashed var(--edge);
}
.asking .cell[aria-pressed='true'] {
background: var(--accent);
border: 2px solid var(--accent);
color: var(--on);
}
.scroll {
overflow-x: auto;
margin-top: 10px;
position: relative;
}
table {
width: 100%;
font-size: 13.5px;
}
th,
td {
padding: 3px 10px 3px 0;
vertical-align: middle;
text-align: left;
}
.at {
white-space: nowrap;
}
tbody tr + tr td {
border-top: 1px solid var(--line);
}
.mask {
display: block;
width: 100px;
height: 12px;
}
.mask rect.off {
fill: var(--idle);
}
.mask rect.on {
fill: var(--hue);
}
.mask rect.hollow {
fill: var(--card);
stroke: var(--hue);
stroke-width: 1;
}
.key {
display: flex;
flex-wrap: wrap;
gap: 2px 14px;
margin: 8px 0 0;
padding: 0;
list-style: none;
font-size: 12.5px;
color: var(--soft);
}
.key i {
display: inline-block;
width: 15px;
height: 11px;
border-radius: 3px;
margin-right: 5px;
vertical-align: -1px;
border: 2px solid var(--edge);
}
.key .runs {
background: var(--edge);
}
.key .joins {
border-style: double;
border-width: 3px;
}
.key .ended {
border: 1.5px dashed var(--edge);
}
.key .masked {
background: repeating-linear-gradient(135deg, transparent 0 3px, var(--edge) 3px 5px);
}
@media (max-width: 560px) {
.cells {
--columns: 8 !important;
}
.mask {
width: 76px;
}
}
@media (forced-colors: active) {
.cell.runs {
forced-color-adjust: none;
background: CanvasText;
color: Canvas;
border-color: CanvasText;
}
.mask rect.on {
fill: CanvasText;
}
.mask rect.off,
.mask rect.hollow {
fill: Canvas;
stroke: GrayText;
}
}
`]}pick(e){this.asking?this.send("gemu-pick",{lane:e}):this.send("gemu-lane",{lane:this.lane===e?-1:e})}get tabLane(){let{lanes:e}=this.model;return R(e,this.focusLane)?this.focusLane:J(e)[0]??0}key(e){let t=this.model.launch.warpSize,n=getComputedStyle(this.renderRoot.querySelector(".cells")).gridTemplateColumns.split(" ").length,i={ArrowRight:1,ArrowLeft:-1,ArrowDown:n,ArrowUp:-n};if(!(e.key in i)||e.shiftKey||e.ctrlKey||e.altKey)return;let{lanes:o}=this.model,a=this.tabLane+i[e.key];for(;a>=0&&a<t&&!R(o,a);)a+=i[e.key];e.preventDefault(),e.stopPropagation(),!(a<0||a>=t)&&(this.focusLane=a,this.updateComplete.then(()=>this.renderRoot.querySelectorAll(".cell")[a].focus()))}shown(e){return e.find(t=>t.register.name===this.register)??[...e].filter(t=>t.last>=0).sort((t,n)=>n.last-t.last)[0]}cell(e,t,n){let i=this.model,o=e.groups[e.group[t]],a=o?.reason??"absent",l=o&&o.instruction>=0?i.launch.instructions[o.instruction].block:-1,h=l>=0?i.launch.blocks[l].letter:"",c=n?.values[t],p=a==="ended"?"end":c===void 0?"·":De(c,n.register.type,n.register.bits,lt(i,n.register,this.hex)),u=o?Ke(i,o,e.groups):"has no thread",d=this.asking?`lane ${t}`:`lane ${t}: ${u}${o&&o.instruction>=0?`, ${de(i.launch,o.instruction)}`:""}${n&&c!==void 0?`, ${n.register.name} is ${p}`:""}`,y=this.asking?R(this.picked,t):this.lane===t;return f`<button
class="cell ${Yi[a]} ${a==="joins"?"joins":""}"
style=${le(l)}
aria-pressed=${y}
tabindex=${t===this.tabLane?0:-1}
?disabled=${a==="absent"}
@click=${()=>(this.focusLane=t,this.pick(t))}
@pointerenter=${()=>this.send("gemu-hover",{text:this.asking?"":d[0].toUpperCase()+d.slice(1)})}
@pointerleave=${()=>this.send("gemu-hover",{text:""})}
><span class="hidden">${d}</span><span class="n" aria-hidden="true"><span>${t}</span><span>${this.asking?y?"✓":"":h}</span></span><b aria-hidden="true">${Lt(p.replace(/^0x/,""),5)}</b></button>`}mask(e,t){let n=this.model.launch.warpSize;return _n(e.lanes,n,t)}groups(e){let t=this.model;return f`<div class="scroll" tabindex="0" role="region" aria-label="Groups of lanes">
<table>
<caption class="hidden">Groups of lanes, and what each waits for</caption>
<thead><tr><th scope="col">lanes</th><th scope="col"><span class="hidden">picture</span></th><th scope="col">at</th><th scope="col">now</th></tr></thead>
<tbody>${e.groups.map(n=>this.group(n,e.groups,t.launch.instructions[n.instruction]?.block??-1))}</tbody>
</table>
</div>`}group(e,t,n){let i=this.model,o=i.launch.blocks[n]?.letter,a=Ke(i,e,t),l=U(e.lanes)===1?a.replace(/^are\b/,"is").replace(/^have\b/,"has").replace(/^(run|wait)\b/,"$1s"):a;return f`<tr style=${le(n)}>
<td>${W(e.lanes,i.lanes)}</td>
<td>${this.mask(e,e.reason==="runs")}</td>
<td class="at">${e.reason==="ended"?"–":f`${o?f`<span class="letter">${o}</span> `:v}${de(i.launch,e.instruction)}`}</td>
      <td>${l}</td>
    </tr>`}render(){let e=this.model;if(this.failure)return f`<p>${this.failure}</p>`;if(!e)return v;let t=e.launch.warpSize,n=e.state(this.step),i=this.shown(e.registers(this.step)),o=new Set(n.groups.map(l=>l.reason)),a=t>=16?16:t;return f`<div class="cells ${this.asking?"asking":""}" style="--columns:${a}" role="group" aria-label=${this.asking?"Lanes that run next":`Lanes of the warp${i?`, with the values of ${i.register.name}`:""}`} @keydown=${this.key}>
        ${Array.from({length:t},(l,h)=>this.cell(n,h,i))}
      </div>
      ${this.asking?v:f`<ul class="key">
${o.has("runs")?f`<li><i class="runs"></i>runs</li>`:v}
              ${o.has("masked")?f`<li><i class="masked"></i>guard does not hold</li>`:v}
              ${o.has("joins")?f`<li><i class="joins"></i>waits at the reconvergence point</li>`:v}
              ${["ready","barrier","collective","waits","stuck"].some(l=>o.has(l))?f`<li><i></i>waits</li>`:v}
              ${o.has("ended")?f`<li><i class="ended"></i>has ended</li>`:v}
              <li>letter: basic block</li>
              ${i?f`<li>number: <span class="mono">${i.register.name}</span>${lt(e,i.register,this.hex)===16?" in hexadecimal":""}</li>`:v}
            </ul>
            ${this.groups(n)}`}`}};function _n(r,s,e){return f`<svg class="mask" viewBox="0 0 ${s*4} 12" preserveAspectRatio="none" aria-hidden="true">${Array.from({length:s},(t,n)=>Qi(n,R(r,n)?e?"on":"hollow":"off"))}</svg>`}var Qi=(r,s)=>X`<rect x=${r*4+.5} y="0.5" width="3" height="11" class=${s}/>`,Es=class extends te{static{this.styles=[se,K`
ol {
margin: 0;
padding: 0;
list-style: none;
display: grid;
gap: 4px;
}
li {
display: grid;
grid-template-columns: 64px 108px 1fr;
gap: 10px;
align-items: center;
padding: 5px 10px;
border: 1px solid var(--line);
border-left: 5px solid var(--hue);
border-radius: 6px;
background: var(--card);
font-size: 13.5px;
}
li.running {
background: var(--now);
}
li.point {
border-left-style: double;
}
b {
font-weight: 650;
}
.mask {
width: 104px;
height: 12px;
display: block;
}
.mask rect.off {
fill: var(--idle);
}
.mask rect.on {
fill: var(--hue);
}
.mask rect.hollow {
fill: var(--card);
stroke: var(--hue);
}
p {
margin: 0 0 8px;
font-size: 13.5px;
color: var(--soft);
}
@media (max-width: 560px) {
li {
grid-template-columns: 64px 1fr;
}
li > :last-child {
grid-column: 1 / -1;
}
}
@media (forced-colors: active) {
.mask rect.on {
fill: CanvasText;
}
.mask rect.off,
.mask rect.hollow {
fill: Canvas;
stroke: GrayText;
}
}
`]}render(){let s=this.model;if(!s)return v;if(!s.launch.has.stack)return f`<p>The recording has no stack. Record with --with stack.</p>`;let{stack:e}=s.state(this.step);if(this.step>=s.steps&&C(B(s.lanes,s.ended(s.steps))))return f`<p>All lanes have ended.</p>`;let t=e.filter(o=>o.kind==="point").length,n=this.step>=s.steps,i={running:n?Ge(s.launch)?"blocked":"stopped":"running",ready:"ready",blocked:"blocked",point:"point"};return f`<p>${e.length<=1?"The warp is one group: nothing waits on the stack.":`${e.length-t} warp ${e.length-t===1?"split":"splits"}${t?`, and ${t===1?"a reconvergence point":`${t} reconvergence points`} at which lanes wait for each other`:""}. The innermost is first.`}</p>
      <ol>
        ${e.map(o=>{let a=s.launch.instructions[o.instruction],l=a?s.launch.blocks[a.block]?.letter:"";return f`<li class=${n&&o.kind==="running"?"blocked":o.kind} style="${le(a?.block??-1)};margin-left:${Math.min(o.depth,12)*10}px">
<b>${i[o.kind]}</b>${_n(o.kind==="point"?o.arrived:o.lanes,s.launch.warpSize,o.kind==="running"&&!n)}
<span>${l?f`<span class="letter">${l}</span> `:v}${de(s.launch,o.instruction)}:
            ${o.kind==="point"?C(o.arrived)?`no lane has arrived of ${W(o.lanes,s.lanes)}`:`${W(o.arrived,s.lanes)} arrived of ${W(o.lanes,s.lanes)}`:W(o.lanes,s.lanes)}</span>
          </li>`})}
      </ol>`}};customElements.define("gemu-warp",Ms);customElements.define("gemu-stack",Es);var Ss=class extends te{constructor(){super(...arguments);this.register="";this.lane=-1;this.all=!1;this.hex=!1;this.rover=new Ze(this,"th.name button","th.name button[aria-pressed=true]")}static{this.properties={register:{},lane:{attribute:!1},all:{state:!0},hex:{type:Boolean,reflect:!0}}}static{this.styles=[se,K`
.bar {
display: flex;
flex-wrap: wrap;
gap: 4px 16px;
align-items: center;
margin-bottom: 6px;
font-size: 13px;
color: var(--soft);
}
.choice button {
min-height: 26px;
font-size: 12.5px;
padding: 0 9px;
}
.scroll {
position: relative;
overflow: auto;
max-height: 520px;
border: 1px solid var(--line);
border-radius: 8px;
background: var(--card);
}
table {
border-collapse: separate;
border-spacing: 0;
font: 12px/24px var(--mono);
width: 100%;
}
thead th {
position: sticky;
top: 0;
z-index: 2;
background: var(--card);
border-bottom: 1px solid var(--line);
font: 600 11.5px/24px var(--mono);
text-align: right;
}
th,
td {
padding: 0 4px;
white-space: nowrap;
text-align: right;
border-bottom: 1px solid color-mix(in srgb, var(--line) 60%, transparent);
}
th.name {
position: sticky;
left: 0;
z-index: 1;
background: var(--card);
text-align: left;
padding: 0;
color: var(--ink);
}
thead th.name {
z-index: 3;
padding-left: 10px;
}
th.name button {
border: 0;
border-radius: 0;
background: none;
min-height: 24px;
height: 24px;
padding: 0 8px 0 10px;
width: 100%;
text-align: left;
font: 600 12.5px/24px var(--mono);
}
th.name button[aria-pressed='true'] {
text-decoration: underline;
text-decoration-thickness: 2px;
}
td.class,
td.formula,
th.left {
text-align: left;
}
td.formula {
padding-right: 12px;
min-width: 110px;
}
tr.written td,
tr.written th.name {
background: var(--now);
}
td.off {
color: var(--soft);
background: color-mix(in srgb, var(--idle) 55%, transparent);
}
tr.written td.off {
background: color-mix(in srgb, var(--idle) 70%, var(--now));
}
td.lane,
th.lane {
box-shadow: inset 2px 0 var(--accent), inset -2px 0 var(--accent);
}
.mark {
display: inline-block;
width: 1.2em;
color: var(--accent);
font-weight: 700;
}
p {
margin: 6px 0 0;
font-size: 13px;
color: var(--soft);
}
`]}choose(e){this.hex=e,this.send("gemu-hex",{hex:e})}chip(e){if(e.class==="none")return f`<span class="chip" title="No active lane has a value">–</span>`;let t=e.class;return e.few&&e.lanes>0?f`<span class="chip few" title="Any ${e.lanes===1?"single value is uniform":"two values are uniform or affine"}: the class of ${e.lanes} ${e.lanes===1?"lane":"lanes"} says nothing">${e.lanes} ${e.lanes===1?"lane":"lanes"}</span>`:f`<span class="chip ${t[0]}" title=${t}>${t[0]}<span class="hidden">: ${t}</span></span>`}line(e,t){let n=this.model,i=this.step<n.steps?n.active(this.step):n.lanes,{name:o,type:a,bits:l}=e.register,h=lt(n,e.register,this.hex);return f`<tr class=${e.written?"written":""}>
<th class="name" scope="row"><button aria-pressed=${this.register===o} title="${o} ${a}: show its values in the cells of the warp" @click=${()=>this.send("gemu-register",{name:o})}>${o}</button></th>
<td class="class">${this.chip(e.structure)} <span class="mark" title=${e.written?"written by this step":e.read?"read by this step":""}>${e.written?"←":e.read?"→":""}</span></td>
<td class="formula">${e.structure.few?"":gn(e.structure,a,l,h)}</td>
${t.map(c=>{let p=e.values[c],u=p===void 0?"·":De(p,a,l,h),d=!R(i,c);return f`<td class="${d?"off":""} ${c===this.lane?"lane":""}" title="lane ${c}: ${u}${d?", not active":""}">${this.hex?Lt(u.replace(/^0x/,""),8):Lt(u,l===64?4:6)}</td>`})}
    </tr>`}render(){let e=this.model;if(this.failure)return f`<p>${this.failure}</p>`;if(!e)return v;if(!e.launch.has.results)return f`<p>The recording has no values. Record with --with results.</p>`;let t=Array.from({length:e.launch.warpSize},(o,a)=>a).filter(o=>R(e.lanes,o)),n=e.registers(this.step),i=n.length;if(!this.all&&i>24){let o=new Set([...n].sort((a,l)=>l.last-a.last).slice(0,20));n=n.filter(a=>o.has(a)||a.read||a.register.name===this.register)}return f`<div class="bar">
<span><span class="chip u">u</span> uniform: one value</span><span><span class="chip a">a</span> affine: base + stride · lane</span><span><span class="chip g">g</span> generic: anything</span>
<span>over the active lanes</span><span><span class="mark">→</span>read</span><span><span class="mark">←</span>written by this step</span>
<span class="choice" role="group" aria-label="Numbers">${[!1,!0].map(o=>f`<button aria-pressed=${this.hex===o} title=${o?"All numbers in hexadecimal, floats as their bits":"Numbers in decimal, addresses in hexadecimal"} @click=${()=>this.choose(o)}>${o?"hexadecimal":"decimal"}</button>`)}</span>
        ${i>24?f`<button aria-pressed=${this.all} @click=${()=>this.all=!this.all}>all ${i} registers</button>`:v}
      </div>
      ${n.length===0?f`<p>No register has a value yet.</p>`:f`<div class="scroll" tabindex="0" role="region" aria-label="Registers by lane">
<table @keydown=${this.rover.key} @focusin=${this.rover.focused}>
<caption class="hidden">Values of registers in each lane</caption>
<thead><tr><th class="name" scope="col">register</th><th class="left" scope="col">class</th><th class="left" scope="col">formula</th>${t.map(o=>f`<th scope="col" class=${o===this.lane?"lane":""}><span class="hidden">lane </span>${o}</th>`)}</tr></thead>
              <tbody>${n.map(o=>this.line(o,t))}</tbody>
            </table>
          </div>`}`}};customElements.define("gemu-registers",Ss);var qn=new WeakMap;function dt(r){let s=qn.get(r);if(s)return s;s=[];let e;for(let t=0;t<r.steps;t++){let n=r.instructionAt(t).block,i=t>0&&r.instruction[t]<=r.instruction[t-1];e&&!i&&e.block===n&&e.active.lo===r.activeLo[t]&&e.active.hi===r.activeHi[t]?e.to=t+1:s.push(e={from:t,to:t+1,block:n,active:V(r.activeLo[t],r.activeHi[t])})}return qn.set(r,s),s}function ft(r,s){let[e,t]=[0,r.length];for(;e<t;){let n=e+t>>>1;r[n].to<=s?e=n+1:t=n}return Math.min(e,r.length-1)}function Fn(r,s){let[e,t]=[r.line(s.from),r.line(s.to-1)],n=r.ended(s.from),i=B(B(r.lanes,n),s.active),o=[];return C(i)||o.push(`${W(i,r.lanes)} ${U(i)===1?"waits":"wait"}`),C(n)||o.push(`${W(n,r.lanes)} ${U(n)===1?"has":"have"} ended`),{steps:s.to-s.from===1?`${s.from+1}`:`${s.from+1}–${s.to}`,letter:r.launch.blocks[s.block]?.letter??"",lines:e===t?`${e}`:`${e}–${t}`,active:W(s.active,r.lanes),others:o.join("; ")}}var Dn=r=>r.replace(/[&<>"']/g,s=>`&#${s.charCodeAt(0)};`),Xi=5e3;function jn(r,s,e,t,n){let i=r.launch.warpSize,o=Math.max(1,t-e),a=Math.max(1,Math.min(24,960/o)),l=i<=8?14:i<=16?9:6,[h,c]=[34,44],p=Math.ceil(h+o*a+12),u=c+i*l+26,d=[],y=dt(r).filter(g=>g.to>e&&g.from<t);for(let g of y.slice(0,Xi)){let[x,k]=[Math.max(g.from,e),Math.min(g.to,t)],$=h+(x-e)*a,b=n.blocks[Math.max(g.block,0)%n.blocks.length],E=r.ended(g.from);for(let m=0;m<i;){let w=!R(r.lanes,m)||R(E,m)?0:R(g.active,m)?2:1,M=m+1;for(;M<i&&(!R(r.lanes,M)||R(E,M)?0:R(g.active,M)?2:1)===w;)M++;w&&d.push(`<rect x="${$.toFixed(2)}" y="${c+m*l}" width="${((k-x)*a-(a>4?1:0)).toFixed(2)}" height="${(M-m)*l-.6}" fill="${w===2?b:n.idle}"/>`),m=M}let S=r.launch.blocks[g.block]?.letter;S&&(k-x)*a>=9&&d.push(`<text x="${($+(k-x)*a/2).toFixed(1)}" y="${c-6}" text-anchor="middle" font-weight="700" fill="${b}">${S}</text>`)}for(let g=0;g<i;g+=i<=8?1:8)d.push(`<text x="${h-6}" y="${c+g*l+l/2+3.5}" text-anchor="end" fill="${n.soft}">${g}</text>`);if(a>=15)for(let g=e;g<Math.min(t,r.steps);g++)d.push(`<text x="${(h+(g-e+.5)*a).toFixed(1)}" y="${c+i*l+12}" text-anchor="middle" fill="${n.soft}">${r.line(g)}</text>`);let A=`${s}: ${r.steps} instructions of warp ${r.info.warp} of CTA ${r.launch.ctaName(r.info.cta)}. ${ut(r)}`;return`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${p} ${u}" width="${p}" height="${u}" role="img" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="10"><title>${Dn(A)}</title><rect width="100%" height="100%" fill="${n.card}"/><text x="${h}" y="18" font-size="13" font-weight="700" fill="${n.ink}" font-family="system-ui, sans-serif">${Dn(s)}</text>${d.join("")}</svg>
`}var[ne,Y,Vn]=[30,18,15],er=56,Pe=40,Ls=class extends te{constructor(){super(...arguments);this.label="";this.laneHeight=0;this.revealed=1/0;this.otherLabel="";this.lane=-1;this.lines=new Set;this.width=0;this.open=!1;this.tableFrom=-1;this.drawn="";this.observer=new ResizeObserver(()=>this.width=this.wrap?.clientWidth??0);this.repaint=()=>{this.drawn="",this.requestUpdate()};this.down=e=>{if(e.button!==0)return;let{x:t,step:n}=this.pointed(e);this.press={x:t,step:n,touch:e.pointerType!=="mouse"},this.wrap.setPointerCapture(e.pointerId),this.press.touch&&this.to(n)};this.move=e=>{let{x:t,step:n,lane:i}=this.pointed(e),o=this.model;this.press?.touch?this.to(n):this.press&&Math.abs(t-this.press.x)>6&&(this.dragged={from:Math.min(this.press.step,n),to:Math.max(this.press.step,n)+1});let a=n>=0&&n<o.steps&&n<=this.revealed&&i>=0&&i<o.launch.warpSize;this.send("gemu-hover",{text:a?`${this.label?this.label+": ":""}${zn(o,n,i)}`:""})};this.up=e=>{let{step:t}=this.pointed(e),{press:n,dragged:i}=this;this.press=this.dragged=void 0,n&&(i?this.zoom({from:ie(i.from,0,this.model.steps),to:ie(i.to,1,this.model.steps+1)}):this.to(t))};this.key=e=>{let t=this.model.steps,n={ArrowRight:()=>this.to(this.step+1),ArrowLeft:()=>this.to(this.step-1),ArrowUp:()=>this.to(this.step-1),ArrowDown:()=>this.to(this.step+1),PageUp:()=>this.to(this.step-10),PageDown:()=>this.to(this.step+10),Home:()=>this.to(0),End:()=>this.to(t),"+":()=>this.scale(.5),"=":()=>this.scale(.5),"-":()=>this.scale(2),0:()=>this.zoom(void 0)};e.ctrlKey||e.metaKey||e.altKey||e.shiftKey&&e.key.startsWith("Arrow")||!n[e.key]||(n[e.key](),e.preventDefault(),e.stopPropagation())}}static{this.properties={label:{},laneHeight:{type:Number,attribute:"lane-height"},view:{attribute:!1},revealed:{attribute:!1},other:{attribute:!1},otherLabel:{attribute:!1},lane:{attribute:!1},lines:{attribute:!1},width:{state:!0},open:{state:!0},tableFrom:{state:!0},dragged:{state:!0}}}static{this.styles=[se,K`
.head {
display: flex;
flex-wrap: wrap;
align-items: baseline;
gap: 2px 12px;
margin-bottom: 3px;
}
h3 {
margin: 0;
font: 700 14px/1.4 var(--mono);
}
h3 button {
font: inherit;
min-height: 26px;
padding: 1px 9px;
}
p {
margin: 0;
font-size: 13px;
color: var(--soft);
}
p.differs b {
color: var(--ink);
}
.bad {
color: var(--bad);
font-weight: 600;
}
.wrap {
position: relative;
overflow: hidden;
border-radius: 6px;
touch-action: pan-y;
cursor: crosshair;
user-select: none;
-webkit-user-select: none;
}
.wrap:focus-visible {
outline-offset: 1px;
}
canvas {
display: block;
width: 100%;
}
.head-line,
.drag,
.lit {
position: absolute;
pointer-events: none;
}
.head-line {
top: 15px; /* below the letters */
bottom: 0;
border: 2px solid var(--accent);
border-radius: 4px;
background: color-mix(in srgb, var(--accent) 9%, transparent);
}
.lit {
bottom: 0;
height: 3px;
background: var(--accent);
}
.drag {
top: 0;
bottom: 0;
background: color-mix(in srgb, var(--accent) 18%, transparent);
border: solid var(--accent);
border-width: 0 1px;
}
.tools {
display: flex;
flex-wrap: wrap;
gap: 4px;
margin-left: auto;
align-items: center;
}
.tools button {
font-size: 12.5px;
min-height: 26px;
min-width: 26px;
padding: 0 7px;
border-color: transparent;
background: none;
color: var(--soft);
}
.tools button:hover {
color: var(--ink);
}
.tools button[aria-expanded='true'] {
color: var(--accent);
text-decoration: underline;
}
.scroll {
overflow-x: auto;
margin: 6px 0;
border: 1px solid var(--line);
border-radius: 6px;
background: var(--card);
}
td,
th {
padding: 2px 12px;
border-bottom: 1px solid var(--line);
font-size: 13px;
white-space: nowrap;
text-align: left;
}
tr.now td {
background: var(--now);
}
.pages {
display: flex;
gap: 6px;
align-items: center;
font-size: 13px;
}
@media (forced-colors: active) {
.head-line {
border-color: Highlight;
}
}
`]}get wrap(){return this.renderRoot.querySelector(".wrap")}visible(){let e=(this.model?.steps??0)+1,t=this.view??{from:0,to:e},n=Math.max(this.width-ne-4,40);return{...t,w:Math.min(er,n/Math.max(t.to-t.from,1))}}get height(){let e=this.model?.launch.warpSize??32;return this.laneHeight||(e<=8?14:e<=16?9:e<=32?5:3)}firstUpdated(){matchMedia("(prefers-color-scheme: dark)").addEventListener("change",this.repaint),matchMedia("(forced-colors: active)").addEventListener("change",this.repaint)}disconnectedCallback(){super.disconnectedCallback(),this.observer.disconnect(),matchMedia("(prefers-color-scheme: dark)").removeEventListener("change",this.repaint),matchMedia("(forced-colors: active)").removeEventListener("change",this.repaint)}updated(){let e=this.wrap;e&&(this.observer.observe(e),!this.width&&e.clientWidth&&(this.width=e.clientWidth),this.paint())}palette(){let e=document.createElement("i");this.renderRoot.append(e);let t=o=>(e.style.color=o,getComputedStyle(e).color),i=matchMedia("(forced-colors: active)").matches?{blocks:[t("CanvasText")],on:t("Canvas"),idle:t("GrayText"),edge:t("GrayText"),ink:t("CanvasText"),soft:t("CanvasText"),card:t("Canvas")}:{blocks:Array.from({length:as},(o,a)=>t(`var(--b${a})`)),on:t("var(--on)"),idle:t("var(--idle)"),edge:t("var(--edge)"),ink:t("var(--ink)"),soft:t("var(--soft)"),card:t("var(--card)")};return e.remove(),i}paint(){let e=this.renderRoot.querySelector("canvas"),t=this.model;if(!e||!t||!this.width)return;let{from:n,to:i,w:o}=this.visible(),a=[t.info.cta,t.info.warp,this.label,this.width,this.height,n,i,this.revealed,devicePixelRatio,this.lane,this.other?.launch.policy].join();if(this.drawn===a&&this.drawnModel===t&&this.drawnOther===this.other)return;[this.drawn,this.drawnModel,this.drawnOther]=[a,t,this.other];let l=this.palette(),h=t.launch.warpSize,c=this.height,p=devicePixelRatio||1,u=Y+h*c+Vn;e.width=Math.round(this.width*p),e.height=Math.round(u*p),e.style.height=`${u}px`;let d=e.getContext("2d");d.scale(p,p),d.clearRect(0,0,this.width,u);let y=b=>ne+(b-n)*o,A=Math.min(i,t.steps,this.revealed+1);d.font="10px ui-monospace, Menlo, Consolas, monospace",d.textBaseline="middle",d.fillStyle=l.soft,d.textAlign="right";for(let b=0;b<h;b+=c>=10?1:8)d.fillText(String(b),ne-6,Y+b*c+Math.max(c/2,4));d.save(),d.beginPath(),d.rect(ne,0,this.width-ne,u),d.clip();let g=dt(t),[x,k]=[ft(g,Math.floor(n)),ft(g,Math.ceil(A)-1)];g.length>0&&k-x<6e3?this.paintRuns(d,l,x,k,A,y,o):g.length>0&&this.paintColumns(d,l,A,y,o,p),d.strokeStyle=l.edge,d.globalAlpha=.55,d.setLineDash([1,3]),d.lineWidth=1;for(let b=0;b<h;b++){if(!R(t.lanes,b))continue;let E=tr(t,b);if(E>=A)continue;d.beginPath();let S=Y+b*c+c/2;d.moveTo(Math.max(y(E),ne)+2,S),d.lineTo(y(A),S),d.stroke()}if(d.setLineDash([]),d.globalAlpha=1,t.steps>i&&this.revealed>=t.steps){let[b,E]=[y(i),Y/2];d.fillStyle=l.ink,d.beginPath(),d.moveTo(b,E),d.lineTo(b-9,E-6),d.lineTo(b-9,E+6),d.fill()}A===t.steps&&i>t.steps&&this.paintEnd(d,l,y(t.steps),Math.max(o,6),h*c),d.textAlign="center",d.fillStyle=l.soft;let $=t.launch.instructions.some(b=>b.line>=1e3)?30:t.launch.instructions.some(b=>b.line>=100)?22:16;if(o>=$)for(let b=Math.max(0,Math.floor(n));b<A;b++)d.fillText(String(t.line(b)),y(b+.5),u-Vn/2+1);if(this.other){d.fillStyle=l.ink;for(let b=Math.max(0,Math.floor(n));b<Math.min(A,this.revealed+1);b++)os(this.other,t,b)&&d.fillRect(y(b),Y+h*c+1,Math.max(o-.5,.5),2)}this.lane>=0&&this.lane<h&&(d.strokeStyle=l.ink,d.lineWidth=1.5,d.strokeRect(ne+.75,Y+this.lane*c-.75,y(A)-ne-1.5,c+1)),d.restore()}paintRuns(e,t,n,i,o,a,l){let h=this.model,[c,p]=[h.launch.warpSize,this.height],u=l>=5?1:0,d=p>=4?.8:0,y=dt(h);for(let A=n;A<=i;A++){let g=y[A],x=Math.min(g.to,o),[k,$]=[a(g.from),a(x)],b=B(B(h.lanes,h.ended(g.from)),g.active),E=t.blocks[Math.max(g.block,0)%t.blocks.length];for(let[w,M]of[[b,t.idle],[g.active,E]])if(!C(w)){e.fillStyle=M;for(let z=0;z<c;z++)R(w,z)&&e.fillRect(k,Y+z*p,Math.max($-k-u,.6),p-d)}if(l>=3){e.fillStyle=t.card,e.globalAlpha=.6;for(let w=g.from;w<x;w++){let M=h.branches(w)?void 0:B(h.active(w),h.executing(w));if(!(!M||C(M)))for(let z=0;z<c;z++)R(M,z)&&e.fillRect(a(w),Y+z*p,l-u,p-d)}e.globalAlpha=1}if(u&&l>=10){e.fillStyle=t.card;for(let w=g.from+1;w<x;w++)e.fillRect(a(w)-u,Y,u,c*p)}let S=h.launch.blocks[g.block]?.letter,m=Math.max(k,ne);S&&$-m>=9&&(e.fillStyle=E,e.fillRect(m,1,Math.max($-m-u,1),Y-4),e.fillStyle=t.on,e.textAlign="center",e.font="bold 11px ui-monospace, Menlo, Consolas, monospace",e.fillText(S,(m+Math.min($,this.width))/2,Y/2-.5),e.font="10px ui-monospace, Menlo, Consolas, monospace")}}paintColumns(e,t,n,i,o,a){let l=this.model,[h,c]=[l.launch.warpSize,this.height],{from:p}=this.visible(),u=Math.ceil(i(n)-ne);if(u<=0)return;let d=new ImageData(u,h),y=new Uint32Array(d.data.buffer),A=[...t.blocks,t.idle].map(x=>{let[k,$,b]=x.match(/[\d.]+/g).map(Number);return 255<<24|b<<16|$<<8|k});for(let x=0;x<u;x++){let k=Math.max(0,Math.floor(p+x/o)),$=Math.min(n,Math.max(k+1,Math.floor(p+(x+1)/o)));for(let b=0;b<h;b++){if(!R(l.lanes,b))continue;let E=0;for(let S=$-1;S>=k&&!E;S--)((b<32?l.activeLo[S]>>>b:l.activeHi[S]>>>b-32)&1)===1&&(E=A[Math.max(l.instructionAt(S).block,0)%t.blocks.length]);!E&&!R(l.ended(k),b)&&(E=A[A.length-1]),y[b*u+x]=E}}let g=document.createElement("canvas");[g.width,g.height]=[u,h],g.getContext("2d").putImageData(d,0,0),e.imageSmoothingEnabled=a<1,e.drawImage(g,ne,Y,u,h*c)}paintEnd(e,t,n,i,o){let a=this.model,l=B(a.lanes,a.ended(a.steps));if(C(l))return;let h=a.launch.outcome==="stopped"||a.launch.outcome==="done";if(e.strokeStyle=t.ink,e.lineWidth=2,e.setLineDash(h?[3,4]:[]),e.beginPath(),e.moveTo(n+1,Y-2),e.lineTo(n+1,Y+o+2),e.stroke(),e.setLineDash([]),!h){e.save(),e.beginPath(),e.rect(n+1,Y-2,Math.max(i,10),o+4),e.clip(),e.lineWidth=1,e.beginPath();for(let c=-20;c<o+20;c+=6)e.moveTo(n,Y+c+14),e.lineTo(n+40,Y+c-26);e.stroke(),e.restore()}}pointed(e){let t=this.wrap.getBoundingClientRect(),{from:n,w:i}=this.visible(),o=e.clientX-t.left;return{x:o,step:Math.floor(n+(o-ne)/i),lane:Math.floor((e.clientY-t.top-Y)/this.height)}}to(e){this.go(ie(e,0,Math.min(this.model.steps,this.revealed)))}zoom(e){let t=new CustomEvent("gemu-zoom",{detail:{view:e},bubbles:!0,composed:!0,cancelable:!0});this.dispatchEvent(t)&&(this.view=e)}scale(e){let{from:t,to:n}=this.visible(),i=(n-t)*e,o=this.model.steps+1;if(i>=o)return this.zoom(void 0);let a=ie(this.step+.5-i/2,0,o-i);this.zoom({from:Math.round(a),to:Math.round(a)+Math.max(4,Math.round(i))})}svg(){let{from:e,to:t}=this.visible();return jn(this.model,this.label||this.model.launch.policy,Math.floor(e),Math.min(Math.ceil(t),this.model.steps,this.revealed+1),this.palette())}get fileName(){return`${this.model.launch.kernel}-${(this.label||this.model.launch.policy).replace(/\W+/g,"-")}`}saveSVG(){Gn(new Blob([this.svg()],{type:"image/svg+xml"}),this.fileName+".svg")}async savePNG(){let e=new Image;e.src="data:image/svg+xml,"+encodeURIComponent(this.svg()),await e.decode();let t=document.createElement("canvas");[t.width,t.height]=[e.width*2,e.height*2],t.getContext("2d").drawImage(e,0,0,t.width,t.height),t.toBlob(n=>n&&Gn(n,this.fileName+".png"))}difference(){let e=this.model;if(!this.other)return v;let t=xn(this.other,e);if(t<0)return f`<p class="differs">The same lanes in the same order as under <b>${this.otherLabel}</b>.</p>`;if(t>this.revealed)return v;let n=i=>t<i.steps?`line ${i.line(t)}`:"nothing more";return f`<p class="differs">As under <b>${this.otherLabel}</b> up to step ${t}; then here <b>${n(e)}</b> runs, there ${n(this.other)}. The marks below show the steps that differ.</p>`}table(){let e=this.model,t=dt(e),n=t.length?Math.min(t.length,ft(t,Math.min(this.revealed,e.steps-1))+1):0,i=t.length?ft(t,Math.min(this.step,e.steps-1)):0,o=ie(this.tableFrom>=0?this.tableFrom:i-Pe/2,0,Math.max(0,n-Pe)),a=Math.min(n,o+Pe),l=h=>()=>this.tableFrom=ie(h,0,Math.max(0,n-Pe));return f`<div class="scroll" tabindex="0" role="region" aria-label="Table of ${this.label}">
<table>
<caption class="hidden">Every step of every lane, ${this.label}</caption>
<thead><tr><th scope="col">steps</th><th scope="col">block</th><th scope="col">lines</th><th scope="col">lanes that run</th><th scope="col">the others</th></tr></thead>
<tbody>
${t.slice(o,a).map((h,c)=>{let p=Fn(e,h);return f`<tr class=${o+c===i&&this.step<e.steps?"now":""}><td>${p.steps}</td><td>${p.letter?f`<span class="letter" style=${le(h.block)}>${p.letter}</span>`:""}</td><td>${p.lines}</td><td>${p.active}</td><td>${p.others||"–"}</td></tr>`})}
          </tbody>
        </table>
      </div>
      ${n>Pe?f`<div class="pages"><button ?disabled=${o===0} @click=${l(o-Pe)}>Earlier</button><button ?disabled=${a>=n} @click=${l(o+Pe)}>Later</button><span>rows ${o+1}–${a} of ${n}</span></div>`:v}
      ${this.revealed>=e.steps?f`<p>${ut(e)}</p>`:v}`}render(){let e=this.model;if(this.failure)return f`<p class="bad">${this.failure}</p>`;if(!e)return v;let{from:t,to:n,w:i}=this.visible(),o=this.revealed<e.steps,a=ie(this.step,0,e.steps),l=ne+(a-t)*i,h=a>=t&&a<=n,c=o?"done":e.launch.outcome,p=t>0||n<e.steps,u=this.label||e.launch.policy;return f`<div class="head">
<h3><slot name="title">${u}</slot></h3>
${c==="deadlock"||c==="trap"?f`<span class="bad">${c==="deadlock"?"✕ deadlock":"✕ stopped by an error"}</span>`:v}
        ${c==="stopped"?f`<span class="soft">${pt(e.launch)}</span>`:v}
        ${(c==="deadlock"||c==="trap")&&n<e.steps?f`<span class="soft">… and so on up to step ${e.steps.toLocaleString("en")}</span>`:v}
        <p>${o?"Predict which lanes run next: the future is not drawn yet.":Rn(e)}</p>
        <div class="tools">
          ${p?f`<button @click=${()=>this.scale(2)} aria-label="Zoom out, ${u}" title="Zoom out (−)">−</button><button @click=${()=>this.scale(.5)} aria-label="Zoom in, ${u}" title="Zoom in (+)">+</button><button @click=${()=>this.zoom({from:0,to:e.steps+1})} title="Show all steps (0)">all steps</button>`:v}
          <button aria-expanded=${this.open} @click=${()=>(this.open=!this.open,this.tableFrom=-1)}>table</button>
          <button @click=${this.saveSVG} aria-label="Save ${u} as SVG">SVG</button>
          <button @click=${this.savePNG} aria-label="Save ${u} as PNG">PNG</button>
          <slot name="tools"></slot>
        </div>
      </div>
      <div
        class="wrap"
        tabindex="0"
        role="slider"
        aria-label="Lanes over time, ${u}"
        aria-orientation="horizontal"
        aria-valuemin="1"
        aria-valuemax=${e.steps+1}
        aria-valuenow=${a+1}
        aria-valuetext=${ht(Re(e,a,o&&a>=this.revealed))}
        @pointerdown=${this.down}
        @pointermove=${this.move}
        @pointerup=${this.up}
        @pointercancel=${()=>this.press=this.dragged=void 0}
        @pointerleave=${()=>this.send("gemu-hover",{text:""})}
        @keydown=${this.key}
      >
        <canvas></canvas>
        ${[...this.marked(t,n)].map(d=>f`<div class="lit" style="left:${ne+(d.from-t)*i}px;width:${Math.max(1,(d.to-d.from)*i)}px"></div>`)}
        ${h?f`<div class="head-line" style="left:${l-1}px;width:${Math.max(i+1,5)}px"></div>`:v}
        ${this.dragged?f`<div class="drag" style="left:${ne+(this.dragged.from-t)*i}px;width:${(this.dragged.to-this.dragged.from)*i}px"></div>`:v}
      </div>
      ${this.difference()} ${this.open?this.table():v}`}*marked(e,t){let n=this.model;if(this.lines.size===0)return;let i,o=0;for(let a=Math.max(0,Math.floor(e));a<Math.min(t,n.steps,this.revealed+1)&&o<300;a++)this.lines.has(n.line(a))&&(i&&i.to===a?i.to=a+1:(i&&(yield i),i={from:a,to:a+1},o++));i&&(yield i)}};function tr(r,s){if(!R(r.ended(r.steps),s))return 1/0;let[e,t]=[0,r.steps];for(;e<t;){let n=e+t>>>1;R(r.ended(n),s)?t=n:e=n+1}return e}function Gn(r,s){let e=document.createElement("a");e.href=URL.createObjectURL(r),e.download=s,e.click(),setTimeout(()=>URL.revokeObjectURL(e.href),1e4)}customElements.define("gemu-strip",Ls);export{Ee as Recording,I as RecordingError,Fe as launchesOf,Re as sentence,ht as sentenceText};
