var bt=globalThis,wt=bt.ShadowRoot&&(bt.ShadyCSS===void 0||bt.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,zt=Symbol(),zs=new WeakMap,Qe=class{constructor(s,e,t){if(this._$cssResult$=!0,t!==zt)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=s,this.t=e}get styleSheet(){let s=this.o,e=this.t;if(wt&&s===void 0){let t=e!==void 0&&e.length===1;t&&(s=zs.get(e)),s===void 0&&((this.o=s=new CSSStyleSheet).replaceSync(this.cssText),t&&zs.set(e,s))}return s}toString(){return this.cssText}},Rs=r=>new Qe(typeof r=="string"?r:r+"",void 0,zt),K=(r,...s)=>{let e=r.length===1?r[0]:s.reduce((t,n,i)=>t+(o=>{if(o._$cssResult$===!0)return o.cssText;if(typeof o=="number")return o;throw Error("Value passed to 'css' function must be a 'css' function result: "+o+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(n)+r[i+1],r[0]);return new Qe(e,r,zt)},Is=(r,s)=>{if(wt)r.adoptedStyleSheets=s.map(e=>e instanceof CSSStyleSheet?e:e.styleSheet);else for(let e of s){let t=document.createElement("style"),n=bt.litNonce;n!==void 0&&t.setAttribute("nonce",n),t.textContent=e.cssText,r.appendChild(t)}},Rt=wt?r=>r:r=>r instanceof CSSStyleSheet?(s=>{let e="";for(let t of s.cssRules)e+=t.cssText;return Rs(e)})(r):r;var{is:ei,defineProperty:ti,getOwnPropertyDescriptor:si,getOwnPropertyNames:ni,getOwnPropertySymbols:ii,getPrototypeOf:ri}=Object,xt=globalThis,Ps=xt.trustedTypes,oi=Ps?Ps.emptyScript:"",ai=xt.reactiveElementPolyfillSupport,Xe=(r,s)=>r,It={toAttribute(r,s){switch(s){case Boolean:r=r?oi:null;break;case Object:case Array:r=r==null?r:JSON.stringify(r)}return r},fromAttribute(r,s){let e=r;switch(s){case Boolean:e=r!==null;break;case Number:e=r===null?null:Number(r);break;case Object:case Array:try{e=JSON.parse(r)}catch{e=null}}return e}},Ws=(r,s)=>!ei(r,s),Us={attribute:!0,type:String,converter:It,reflect:!1,useDefault:!1,hasChanged:Ws};Symbol.metadata??=Symbol("metadata"),xt.litPropertyMetadata??=new WeakMap;var ye=class extends HTMLElement{static addInitializer(s){this._$Ei(),(this.l??=[]).push(s)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(s,e=Us){if(e.state&&(e.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(s)&&((e=Object.create(e)).wrapped=!0),this.elementProperties.set(s,e),!e.noAccessor){let t=Symbol(),n=this.getPropertyDescriptor(s,t,e);n!==void 0&&ti(this.prototype,s,n)}}static getPropertyDescriptor(s,e,t){let{get:n,set:i}=si(this.prototype,s)??{get(){return this[e]},set(o){this[e]=o}};return{get:n,set(o){let a=n?.call(this);i?.call(this,o),this.requestUpdate(s,a,t)},configurable:!0,enumerable:!0}}static getPropertyOptions(s){return this.elementProperties.get(s)??Us}static _$Ei(){if(this.hasOwnProperty(Xe("elementProperties")))return;let s=ri(this);s.finalize(),s.l!==void 0&&(this.l=[...s.l]),this.elementProperties=new Map(s.elementProperties)}static finalize(){if(this.hasOwnProperty(Xe("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(Xe("properties"))){let e=this.properties,t=[...ni(e),...ii(e)];for(let n of t)this.createProperty(n,e[n])}let s=this[Symbol.metadata];if(s!==null){let e=litPropertyMetadata.get(s);if(e!==void 0)for(let[t,n]of e)this.elementProperties.set(t,n)}this._$Eh=new Map;for(let[e,t]of this.elementProperties){let n=this._$Eu(e,t);n!==void 0&&this._$Eh.set(n,e)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(s){let e=[];if(Array.isArray(s)){let t=new Set(s.flat(1/0).reverse());for(let n of t)e.unshift(Rt(n))}else s!==void 0&&e.push(Rt(s));return e}static _$Eu(s,e){let t=e.attribute;return t===!1?void 0:typeof t=="string"?t:typeof s=="string"?s.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(s=>this.enableUpdating=s),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(s=>s(this))}addController(s){(this._$EO??=new Set).add(s),this.renderRoot!==void 0&&this.isConnected&&s.hostConnected?.()}removeController(s){this._$EO?.delete(s)}_$E_(){let s=new Map,e=this.constructor.elementProperties;for(let t of e.keys())this.hasOwnProperty(t)&&(s.set(t,this[t]),delete this[t]);s.size>0&&(this._$Ep=s)}createRenderRoot(){let s=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return Is(s,this.constructor.elementStyles),s}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(s=>s.hostConnected?.())}enableUpdating(s){}disconnectedCallback(){this._$EO?.forEach(s=>s.hostDisconnected?.())}attributeChangedCallback(s,e,t){this._$AK(s,t)}_$ET(s,e){let t=this.constructor.elementProperties.get(s),n=this.constructor._$Eu(s,t);if(n!==void 0&&t.reflect===!0){let i=(t.converter?.toAttribute!==void 0?t.converter:It).toAttribute(e,t.type);this._$Em=s,i==null?this.removeAttribute(n):this.setAttribute(n,i),this._$Em=null}}_$AK(s,e){let t=this.constructor,n=t._$Eh.get(s);if(n!==void 0&&this._$Em!==n){let i=t.getPropertyOptions(n),o=typeof i.converter=="function"?{fromAttribute:i.converter}:i.converter?.fromAttribute!==void 0?i.converter:It;this._$Em=n;let a=o.fromAttribute(e,i.type);this[n]=a??this._$Ej?.get(n)??a,this._$Em=null}}requestUpdate(s,e,t,n=!1,i){if(s!==void 0){let o=this.constructor;if(n===!1&&(i=this[s]),t??=o.getPropertyOptions(s),!((t.hasChanged??Ws)(i,e)||t.useDefault&&t.reflect&&i===this._$Ej?.get(s)&&!this.hasAttribute(o._$Eu(s,t))))return;this.C(s,e,t)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(s,e,{useDefault:t,reflect:n,wrapped:i},o){t&&!(this._$Ej??=new Map).has(s)&&(this._$Ej.set(s,o??e??this[s]),i!==!0||o!==void 0)||(this._$AL.has(s)||(this.hasUpdated||t||(e=void 0),this._$AL.set(s,e)),n===!0&&this._$Em!==s&&(this._$Eq??=new Set).add(s))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(e){Promise.reject(e)}let s=this.scheduleUpdate();return s!=null&&await s,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[n,i]of this._$Ep)this[n]=i;this._$Ep=void 0}let t=this.constructor.elementProperties;if(t.size>0)for(let[n,i]of t){let{wrapped:o}=i,a=this[n];o!==!0||this._$AL.has(n)||a===void 0||this.C(n,void 0,i,a)}}let s=!1,e=this._$AL;try{s=this.shouldUpdate(e),s?(this.willUpdate(e),this._$EO?.forEach(t=>t.hostUpdate?.()),this.update(e)):this._$EM()}catch(t){throw s=!1,this._$EM(),t}s&&this._$AE(e)}willUpdate(s){}_$AE(s){this._$EO?.forEach(e=>e.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(s)),this.updated(s)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(s){return!0}update(s){this._$Eq&&=this._$Eq.forEach(e=>this._$ET(e,this[e])),this._$EM()}updated(s){}firstUpdated(s){}};ye.elementStyles=[],ye.shadowRootOptions={mode:"open"},ye[Xe("elementProperties")]=new Map,ye[Xe("finalized")]=new Map,ai?.({ReactiveElement:ye}),(xt.reactiveElementVersions??=[]).push("2.1.2");var Ot=globalThis,Hs=r=>r,yt=Ot.trustedTypes,Bs=yt?yt.createPolicy("lit-html",{createHTML:r=>r}):void 0,Fs="$lit$",Ee=`lit$${Math.random().toFixed(9).slice(2)}$`,js="?"+Ee,li=`<${js}>`,ze=document,tt=()=>ze.createComment(""),st=r=>r===null||typeof r!="object"&&typeof r!="function",_t=Array.isArray,ci=r=>_t(r)||typeof r?.[Symbol.iterator]=="function",Pt=`[ 	
\f\r]`,et=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,Ns=/-->/g,Os=/>/g,Te=RegExp(`>|${Pt}(?:([^\\s"'>=/]+)(${Pt}*=${Pt}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),_s=/'/g,qs=/"/g,Vs=/^(?:script|style|textarea|title)$/i,qt=r=>(s,...e)=>({_$litType$:r,strings:s,values:e}),f=qt(1),J=qt(2),dr=qt(3),Re=Symbol.for("lit-noChange"),g=Symbol.for("lit-nothing"),Ds=new WeakMap,Ce=ze.createTreeWalker(ze,129);function Gs(r,s){if(!_t(r)||!r.hasOwnProperty("raw"))throw Error("invalid template strings array");return Bs!==void 0?Bs.createHTML(s):s}var hi=(r,s)=>{let e=r.length-1,t=[],n,i=s===2?"<svg>":s===3?"<math>":"",o=et;for(let a=0;a<e;a++){let c=r[a],l,h,u=-1,p=0;for(;p<c.length&&(o.lastIndex=p,h=o.exec(c),h!==null);)p=o.lastIndex,o===et?h[1]==="!--"?o=Ns:h[1]!==void 0?o=Os:h[2]!==void 0?(Vs.test(h[2])&&(n=RegExp("</"+h[2],"g")),o=Te):h[3]!==void 0&&(o=Te):o===Te?h[0]===">"?(o=n??et,u=-1):h[1]===void 0?u=-2:(u=o.lastIndex-h[2].length,l=h[1],o=h[3]===void 0?Te:h[3]==='"'?qs:_s):o===qs||o===_s?o=Te:o===Ns||o===Os?o=et:(o=Te,n=void 0);let d=o===Te&&r[a+1].startsWith("/>")?" ":"";i+=o===et?c+li:u>=0?(t.push(l),c.slice(0,u)+Fs+c.slice(u)+Ee+d):c+Ee+(u===-2?a:d)}return[Gs(r,i+(r[e]||"<?>")+(s===2?"</svg>":s===3?"</math>":"")),t]},nt=class r{constructor({strings:s,_$litType$:e},t){let n;this.parts=[];let i=0,o=0,a=s.length-1,c=this.parts,[l,h]=hi(s,e);if(this.el=r.createElement(l,t),Ce.currentNode=this.el.content,e===2||e===3){let u=this.el.content.firstChild;u.replaceWith(...u.childNodes)}for(;(n=Ce.nextNode())!==null&&c.length<a;){if(n.nodeType===1){if(n.hasAttributes())for(let u of n.getAttributeNames())if(u.endsWith(Fs)){let p=h[o++],d=n.getAttribute(u).split(Ee),w=/([.?@])?(.*)/.exec(p);c.push({type:1,index:i,name:w[2],strings:d,ctor:w[1]==="."?Wt:w[1]==="?"?Ht:w[1]==="@"?Bt:_e}),n.removeAttribute(u)}else u.startsWith(Ee)&&(c.push({type:6,index:i}),n.removeAttribute(u));if(Vs.test(n.tagName)){let u=n.textContent.split(Ee),p=u.length-1;if(p>0){n.textContent=yt?yt.emptyScript:"";for(let d=0;d<p;d++)n.append(u[d],tt()),Ce.nextNode(),c.push({type:2,index:++i});n.append(u[p],tt())}}}else if(n.nodeType===8)if(n.data===js)c.push({type:2,index:i});else{let u=-1;for(;(u=n.data.indexOf(Ee,u+1))!==-1;)c.push({type:7,index:i}),u+=Ee.length-1}i++}}static createElement(s,e){let t=ze.createElement("template");return t.innerHTML=s,t}};function Oe(r,s,e=r,t){if(s===Re)return s;let n=t!==void 0?e._$Co?.[t]:e._$Cl,i=st(s)?void 0:s._$litDirective$;return n?.constructor!==i&&(n?._$AO?.(!1),i===void 0?n=void 0:(n=new i(r),n._$AT(r,e,t)),t!==void 0?(e._$Co??=[])[t]=n:e._$Cl=n),n!==void 0&&(s=Oe(r,n._$AS(r,s.values),n,t)),s}var Ut=class{constructor(s,e){this._$AV=[],this._$AN=void 0,this._$AD=s,this._$AM=e}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(s){let{el:{content:e},parts:t}=this._$AD,n=(s?.creationScope??ze).importNode(e,!0);Ce.currentNode=n;let i=Ce.nextNode(),o=0,a=0,c=t[0];for(;c!==void 0;){if(o===c.index){let l;c.type===2?l=new it(i,i.nextSibling,this,s):c.type===1?l=new c.ctor(i,c.name,c.strings,this,s):c.type===6&&(l=new Nt(i,this,s)),this._$AV.push(l),c=t[++a]}o!==c?.index&&(i=Ce.nextNode(),o++)}return Ce.currentNode=ze,n}p(s){let e=0;for(let t of this._$AV)t!==void 0&&(t.strings!==void 0?(t._$AI(s,t,e),e+=t.strings.length-2):t._$AI(s[e])),e++}},it=class r{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(s,e,t,n){this.type=2,this._$AH=g,this._$AN=void 0,this._$AA=s,this._$AB=e,this._$AM=t,this.options=n,this._$Cv=n?.isConnected??!0}get parentNode(){let s=this._$AA.parentNode,e=this._$AM;return e!==void 0&&s?.nodeType===11&&(s=e.parentNode),s}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(s,e=this){s=Oe(this,s,e),st(s)?s===g||s==null||s===""?(this._$AH!==g&&this._$AR(),this._$AH=g):s!==this._$AH&&s!==Re&&this._(s):s._$litType$!==void 0?this.$(s):s.nodeType!==void 0?this.T(s):ci(s)?this.k(s):this._(s)}O(s){return this._$AA.parentNode.insertBefore(s,this._$AB)}T(s){this._$AH!==s&&(this._$AR(),this._$AH=this.O(s))}_(s){this._$AH!==g&&st(this._$AH)?this._$AA.nextSibling.data=s:this.T(ze.createTextNode(s)),this._$AH=s}$(s){let{values:e,_$litType$:t}=s,n=typeof t=="number"?this._$AC(s):(t.el===void 0&&(t.el=nt.createElement(Gs(t.h,t.h[0]),this.options)),t);if(this._$AH?._$AD===n)this._$AH.p(e);else{let i=new Ut(n,this),o=i.u(this.options);i.p(e),this.T(o),this._$AH=i}}_$AC(s){let e=Ds.get(s.strings);return e===void 0&&Ds.set(s.strings,e=new nt(s)),e}k(s){_t(this._$AH)||(this._$AH=[],this._$AR());let e=this._$AH,t,n=0;for(let i of s)n===e.length?e.push(t=new r(this.O(tt()),this.O(tt()),this,this.options)):t=e[n],t._$AI(i),n++;n<e.length&&(this._$AR(t&&t._$AB.nextSibling,n),e.length=n)}_$AR(s=this._$AA.nextSibling,e){for(this._$AP?.(!1,!0,e);s!==this._$AB;){let t=Hs(s).nextSibling;Hs(s).remove(),s=t}}setConnected(s){this._$AM===void 0&&(this._$Cv=s,this._$AP?.(s))}},_e=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(s,e,t,n,i){this.type=1,this._$AH=g,this._$AN=void 0,this.element=s,this.name=e,this._$AM=n,this.options=i,t.length>2||t[0]!==""||t[1]!==""?(this._$AH=Array(t.length-1).fill(new String),this.strings=t):this._$AH=g}_$AI(s,e=this,t,n){let i=this.strings,o=!1;if(i===void 0)s=Oe(this,s,e,0),o=!st(s)||s!==this._$AH&&s!==Re,o&&(this._$AH=s);else{let a=s,c,l;for(s=i[0],c=0;c<i.length-1;c++)l=Oe(this,a[t+c],e,c),l===Re&&(l=this._$AH[c]),o||=!st(l)||l!==this._$AH[c],l===g?s=g:s!==g&&(s+=(l??"")+i[c+1]),this._$AH[c]=l}o&&!n&&this.j(s)}j(s){s===g?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,s??"")}},Wt=class extends _e{constructor(){super(...arguments),this.type=3}j(s){this.element[this.name]=s===g?void 0:s}},Ht=class extends _e{constructor(){super(...arguments),this.type=4}j(s){this.element.toggleAttribute(this.name,!!s&&s!==g)}},Bt=class extends _e{constructor(s,e,t,n,i){super(s,e,t,n,i),this.type=5}_$AI(s,e=this){if((s=Oe(this,s,e,0)??g)===Re)return;let t=this._$AH,n=s===g&&t!==g||s.capture!==t.capture||s.once!==t.once||s.passive!==t.passive,i=s!==g&&(t===g||n);n&&this.element.removeEventListener(this.name,this,t),i&&this.element.addEventListener(this.name,this,s),this._$AH=s}handleEvent(s){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,s):this._$AH.handleEvent(s)}},Nt=class{constructor(s,e,t){this.element=s,this.type=6,this._$AN=void 0,this._$AM=e,this.options=t}get _$AU(){return this._$AM._$AU}_$AI(s){Oe(this,s)}};var ui=Ot.litHtmlPolyfillSupport;ui?.(nt,it),(Ot.litHtmlVersions??=[]).push("3.3.3");var Ks=(r,s,e)=>{let t=e?.renderBefore??s,n=t._$litPart$;if(n===void 0){let i=e?.renderBefore??null;t._$litPart$=n=new it(s.insertBefore(tt(),i),i,void 0,e??{})}return n._$AI(r),n};var Dt=globalThis,ve=class extends ye{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let s=super.createRenderRoot();return this.renderOptions.renderBefore??=s.firstChild,s}update(s){let e=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(s),this._$Do=Ks(e,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return Re}};ve._$litElement$=!0,ve.finalized=!0,Dt.litElementHydrateSupport?.({LitElement:ve});var pi=Dt.litElementPolyfillSupport;pi?.({LitElement:ve});(Dt.litElementVersions??=[]).push("4.2.2");var[Zs,$t,Ft]=[26,34,16];function Js(r){let s=r.filter(v=>v.instructions>0),e=new Set(s.map(v=>v.index)),t=new Map(r.map(v=>[v.index,v])),n=v=>{let x=new Set;for(;!e.has(v);){if(x.has(v))return-1;x.add(v),v=t.get(v)?.next[0]??-1}return v},i=new Map(s.map(v=>[v.index,[...new Set(v.next.map(n))]])),o=new Map,a=new Set,c=[],l=v=>{o.set(v,1);for(let x of i.get(v)??[])x<0||(o.get(x)===1?a.add(`${v} ${x}`):o.has(x)||l(x));o.set(v,2),c.unshift(v)};for(let v of s)o.has(v.index)||l(v.index);let h=new Map;for(let v of c){h.set(v,h.get(v)??0);for(let x of i.get(v)??[])x>=0&&!a.has(`${v} ${x}`)&&h.set(x,Math.max(h.get(x)??0,h.get(v)+1))}let u=[];for(let v of s)(u[h.get(v.index)]??=[]).push(v.index);let p=new Map;u.forEach(v=>v.forEach((x,A)=>p.set(x,A-(v.length-1)/2)));for(let v=0;v<2;v++)for(let x of u.slice(1)){let A=T=>{let H=s.filter(D=>i.get(D.index).includes(T)&&!a.has(`${D.index} ${T}`)).map(D=>p.get(D.index));return H.length?H.reduce((D,F)=>D+F,0)/H.length:p.get(T)},z=new Map(x.map(T=>[T,A(T)]));x.sort((T,H)=>z.get(T)-z.get(H)||T-H),x.forEach((T,H)=>p.set(T,H-(x.length-1)/2))}let d=Math.max(1,...u.map(v=>v.length)),w=a.size,k=s.some(v=>i.get(v.index).some(x=>x>=0&&h.get(x)-h.get(v.index)>1))?1:0,b=14+Math.max(w,k*2)*Ft,M=d*(132+Zs)+2*b,E=M/2,$=new Map;u.forEach((v,x)=>v.forEach(A=>$.set(A,{block:A,x:E+p.get(A)*(132+Zs),y:8+x*(44+$t)})));let m=[],y=0,S=0;for(let v of s){let[x,A]=[$.get(v.index),i.get(v.index)],z=A.map(T=>$.get(T)?.x??-1/0).sort((T,H)=>T-H);A.forEach(T=>{let H=z.indexOf($.get(T)?.x??-1/0),D=x.x+(H-(A.length-1)/2)*28,F=x.y+44;if(T<0){m.push({from:v.index,to:-1,back:!1,path:`M${D} ${F}v14`});return}let O=$.get(T);if(a.has(`${v.index} ${T}`)){let N=Math.max(...[...$.values()].filter(L=>L.y>=O.y&&L.y<=x.y).map(L=>L.x))+66+10+Ft*y++,U=x.x+132/2;m.push({from:v.index,to:T,back:!0,path:`M${U} ${x.y+44/2}H${N-6}q6 0 6 -6V${O.y+44/2+6}q0 -6 -6 -6H${O.x+132/2+5}`})}else if(h.get(T)-h.get(v.index)>1&&[...$.values()].some(N=>N.y>x.y&&N.y<O.y&&Math.abs(N.x-(D+O.x)/2)<132/2+4)){let N=Math.min(...[...$.values()].filter(U=>U.y>=x.y&&U.y<=O.y).map(U=>U.x))-66-10-Ft*S++;m.push({from:v.index,to:T,back:!1,path:`M${x.x-132/2} ${x.y+44/2}H${N+6}q-6 0 -6 6V${O.y-20}q0 6 6 6H${O.x-26}q6 0 6 6V${O.y-5}`})}else{let N=O.y-5,U=O.x+Math.max(-14,Math.min(14,D-O.x));m.push({from:v.index,to:T,back:!1,path:`M${D} ${F}C${D} ${F+$t*.7} ${U} ${N-$t*.7} ${U} ${N}`})}})}return{boxes:[...$.values()],edges:m,width:M,height:u.length*(44+$t)+8}}var q={lo:0,hi:0};function j(r,s=0){return{lo:r>>>0,hi:s>>>0}}function R(r,s){return((s<32?r.lo>>>s:r.hi>>>s-32)&1)===1}var $e=(r,s)=>j(r.lo&s.lo,r.hi&s.hi),Z=(r,s)=>j(r.lo|s.lo,r.hi|s.hi),W=(r,s)=>j(r.lo&~s.lo,r.hi&~s.hi),pe=(r,s)=>r.lo>>>0===s.lo>>>0&&r.hi>>>0===s.hi>>>0,C=r=>(r.lo|r.hi)===0;function Ys(r){return r-=r>>>1&1431655765,r=(r&858993459)+(r>>>2&858993459),(r+(r>>>4)&252645135)*16843009>>>24}var _=r=>Ys(r.lo)+Ys(r.hi);function Y(r){let s=[];for(let e=0;e<64;e++)R(r,e)&&s.push(e);return s}function qe(r){let[s,e]=[0,0];for(let t of r)t<32?s|=1<<t:e|=1<<t-32;return j(s,e)}function di(r){let s=[];for(let e=0;e<64;e++){if(!R(r,e))continue;let t=e;for(;t<63&&R(r,t+1);)t++;s.push(t===e?`${e}`:t===e+1?`${e}, ${t}`:`${e}–${t}`),e=t}return s.join(", ")}function fi(r,s){let e=$e(s,j(1431655765,1431655765));if(_(r)>=3&&pe(r,e))return"even";if(_(r)>=3&&pe(r,W(s,e)))return"odd"}function X(r,s){let e=_(r);if(e===0)return"no lane";if(e>1&&pe(r,s))return`all ${e} lanes`;let t=fi(r,s);if(t)return`the ${t} lanes`;let n=di(r);if(e===1)return`lane ${n}`;let i=n.split(", ");return i.length>6?`${e} lanes (${i.slice(0,4).join(", ")}, …)`:`lanes ${n}`}function de(r,s){return s<0?"the end":`line ${r.instructions[s].line}`}function G(r,s,e,t){return`${X(r,s)} ${_(r)===1?t:e}`}function rt(r,s,e){return[C(r)?"":G(r,e,"run","runs"),C(s)?"":G(s,e,"wait","waits")].filter(Boolean).join(", ")}var se=r=>r[0].toUpperCase()+r.slice(1);function Ie(r,s,e=!1){let t=r.launch,n=r.lanes;if(s>=r.steps)return{head:"The end",code:"",rest:at(r)};let i=r.instructionAt(s),[o,a]=[r.active(s),r.executing(s)],c={head:`Step ${s+1}, line ${i.line}`,code:i.text,rest:""},l=[],h=i.text.startsWith("@"),u=r.branches(s);if(h&&!u&&!pe(o,a)?l.push(C(a)?`${se(G(o,n,"are","is"))} here, but the guard holds for none.`:`The guard holds for ${X(a,n)} of ${_(o)}.`):l.push(`${se(G(o,n,"execute","executes"))} it.`),e)return c.rest=l.join(" "),c;let p=r.outcome(s);return p.split&&p.groups.length>1?l.push(`The warp splits: ${p.groups.map(d=>`${G(d.lanes,n,"go","goes")} to ${de(t,d.instruction)}`).join(", ")}.`):h&&u&&p.groups.length===1&&l.push(C(a)?"No lane takes the branch.":`All take the branch, to ${de(t,p.groups[0].instruction)}.`),p.called&&l.push(`They call ${p.called}.`),C(p.waiting)||l.push(`Then ${G(p.waiting,n,"wait","waits")} ${p.barrier>=0?`at barrier ${p.barrier}`:"for other lanes of the warp"}.`),!C(p.woken)&&C($e(p.woken,p.waiting))&&l.push(`${se(G(p.woken,n,"go on","goes on"))}.`),C(p.ended)||l.push(`${se(G(p.ended,n,"end","ends"))}.`),C(p.reconverged)?s+1<r.steps&&!pe(o,r.active(s+1))&&!(C(p.waiting)&&pe(W(o,p.ended),r.active(s+1)))&&l.push(`Next ${G(r.active(s+1),n,"run","runs")}, at line ${r.line(s+1)}.`):l.push(`${se(G(p.reconverged,n,"are","is"))} together again${s+1<r.steps?`, at line ${r.line(s+1)}`:""}.`),p.trap&&l.push(`The kernel stops: ${p.trap}.`),c.rest=l.join(" "),c}var ot=r=>`${r.head}${r.code?`: ${r.code}.`:"."} ${r.rest}`;function at(r){let s=r.launch,e=W(r.lanes,r.ended(r.steps));if(C(e))return"All lanes have ended.";let t=r.state(r.steps).groups.filter(i=>i.reason!=="ended").map(i=>`${G(i.lanes,r.lanes,"are","is")} at ${de(s,i.instruction)}`);return r.steps===0?`No step was recorded. ${se(t.join(", "))}.`:`${{deadlock:"Deadlock: no thread can make progress",trap:"The kernel has failed",stopped:se(lt(s)),done:"The recording ends here"}[s.outcome]}. ${se(t.join(", "))}.`}var De=r=>r.outcome==="deadlock";function lt(r){let s=/\b(stopped at the limit of [^:;]+)|\b((?:step|time) limit reached)/.exec(r.error);return s?.[1]??(s?`stopped: ${s[2]}`:"stopped at the limit of the recording")}function Fe(r,s,e){switch(s.reason){case"runs":return"run now";case"masked":return"are here, but the guard does not hold";case"ready":return C(s.missing)?"wait while the policy runs other lanes":`wait for ${X(s.missing,r.lanes)}, which ${r.launch.policy.startsWith("its")?"take turns with them":_(s.missing)===1?"runs first":"run first"}; they meet at ${de(r.launch,s.point)}`;case"joins":return C(s.missing)?`wait at the reconvergence point, ${de(r.launch,s.point)}`:`wait at the reconvergence point for ${X(s.missing,r.lanes)}`;case"barrier":return`wait at the barrier in ${de(r.launch,s.instruction)} for ${mi(r,s,e)}`;case"collective":return"wait for the other lanes that the instruction names";case"stuck":return De(r.launch)?"can never continue":"are here when the recording ends";case"waits":return"wait until the policy runs them";case"ended":return"have ended";case"absent":return"have no thread"}}function mi(r,s,e){let t=e.filter(n=>n!==s&&!["ended","absent"].includes(n.reason));return t.length===0?"other threads of the CTA":t.map(n=>X(n.lanes,r.lanes)+(n.reason==="barrier"?`, which ${_(n.lanes)===1?"waits":"wait"} at the barrier in ${de(r.launch,n.instruction)}`:"")).join(", and ")}function Qs(r,s,e){let t=W(s,r);return C(r)?`${X(s,e)} meet here; none has arrived`:`${G(r,e,"have","has")} arrived${C(t)?"":`, ${G(t,e,"have","has")} not`}`}function Xs(r,s,e){let t=r.state(s),n=t.groups[t.group[e]];if(!n)return`Lane ${e} has no thread.`;let i=n.instruction>=0?` – line ${r.launch.instructions[n.instruction].line}: ${r.launch.instructions[n.instruction].text}`:"",o=Fe(r,n,t.groups).replace(/^(run|wait)\b/,"$1s").replace(/^are\b/,"is").replace(/^have\b/,"has");return`Step ${s+1}, lane ${e} ${o}${i}`}function en(r,s,e){let t=e<r.steps&&e<s.steps&&r.line(e)===s.line(e),n=i=>e>=i.steps?"nothing more runs":`line ${i.line(e)} runs${t?` in ${X(i.active(e),i.lanes)}`:""}`;return[n(r),n(s)]}function tn(r){let s=r.counts(),e=_(r.lanes);if(s.steps===0)return"No instruction is recorded.";let t=`${s.steps.toLocaleString("en")} ${s.steps===1?"instruction":"instructions"}`;if(s.partial===0)return`${t}, each executed by all ${e} lanes.`;let n=s.steps-s.activeSum/r.launch.warpSize,i=r.launch.outcome==="done"?`: as if ${n<10?n.toFixed(1):Math.round(n).toLocaleString("en")} steps were wasted`:"";return`${t}; in ${s.partial.toLocaleString("en")} of them some lanes do not run. On average ${Number((s.activeSum/s.steps).toFixed(1))} of ${r.launch.warpSize} lanes run, ${(s.used*100).toFixed(0)} %${i}.`}var te=Uint8Array,ce=Uint16Array,Qt=Int32Array,kt=new te([0,0,0,0,0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4,5,5,5,5,0,0,0,0]),At=new te([0,0,0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7,8,8,9,9,10,10,11,11,12,12,13,13,0,0]),Kt=new te([16,17,18,0,8,7,9,6,10,5,11,4,12,3,13,2,14,1,15]),on=function(r,s){for(var e=new ce(31),t=0;t<31;++t)e[t]=s+=1<<r[t-1];for(var n=new Qt(e[30]),t=1;t<30;++t)for(var i=e[t];i<e[t+1];++i)n[i]=i-e[t]<<5|t;return{b:e,r:n}},an=on(kt,2),ln=an.b,Zt=an.r;ln[28]=258,Zt[258]=28;var cn=on(At,0),gi=cn.b,sn=cn.r,Jt=new ce(32768);for(B=0;B<32768;++B)ke=(B&43690)>>1|(B&21845)<<1,ke=(ke&52428)>>2|(ke&13107)<<2,ke=(ke&61680)>>4|(ke&3855)<<4,Jt[B]=((ke&65280)>>8|(ke&255)<<8)>>1;var ke,B,be=(function(r,s,e){for(var t=r.length,n=0,i=new ce(s);n<t;++n)r[n]&&++i[r[n]-1];var o=new ce(s);for(n=1;n<s;++n)o[n]=o[n-1]+i[n-1]<<1;var a;if(e){a=new ce(1<<s);var c=15-s;for(n=0;n<t;++n)if(r[n])for(var l=n<<4|r[n],h=s-r[n],u=o[r[n]-1]++<<h,p=u|(1<<h)-1;u<=p;++u)a[Jt[u]>>c]=l}else for(a=new ce(t),n=0;n<t;++n)r[n]&&(a[n]=Jt[o[r[n]-1]++]>>15-r[n]);return a}),Se=new te(288);for(B=0;B<144;++B)Se[B]=8;var B;for(B=144;B<256;++B)Se[B]=9;var B;for(B=256;B<280;++B)Se[B]=7;var B;for(B=280;B<288;++B)Se[B]=8;var B,ut=new te(32);for(B=0;B<32;++B)ut[B]=5;var B,vi=be(Se,9,0),bi=be(Se,9,1),wi=be(ut,5,0),xi=be(ut,5,1),jt=function(r){for(var s=r[0],e=1;e<r.length;++e)r[e]>s&&(s=r[e]);return s},fe=function(r,s,e){var t=s/8|0;return(r[t]|r[t+1]<<8)>>(s&7)&e},Vt=function(r,s){var e=s/8|0;return(r[e]|r[e+1]<<8|r[e+2]<<16)>>(s&7)},Xt=function(r){return(r+7)/8|0},hn=function(r,s,e){return(s==null||s<0)&&(s=0),(e==null||e>r.length)&&(e=r.length),new te(r.subarray(s,e))};var yi=["unexpected EOF","invalid block type","invalid length/literal","invalid distance","stream finished","no stream handler",,"no callback","invalid UTF-8 data","extra field too long","date not in range 1980-2099","filename too long","stream finishing","invalid zip data"],Me=function(r,s,e){var t=new Error(s||yi[r]);if(t.code=r,Error.captureStackTrace&&Error.captureStackTrace(t,Me),!e)throw t;return t},$i=function(r,s,e,t){var n=r.length,i=t?t.length:0;if(!n||s.f&&!s.l)return e||new te(0);var o=!e,a=o||s.i!=2,c=s.i;o&&(e=new te(n*3));var l=function(Je){var Ye=e.length;if(Je>Ye){var Ne=new te(Math.max(Ye*2,Je));Ne.set(e),e=Ne}},h=s.f||0,u=s.p||0,p=s.b||0,d=s.l,w=s.d,k=s.m,b=s.n,M=n*8;do{if(!d){h=fe(r,u,1);var E=fe(r,u+1,3);if(u+=3,E)if(E==1)d=bi,w=xi,k=9,b=5;else if(E==2){var S=fe(r,u,31)+257,v=fe(r,u+10,15)+4,x=S+fe(r,u+5,31)+1;u+=14;for(var A=new te(x),z=new te(19),T=0;T<v;++T)z[Kt[T]]=fe(r,u+T*3,7);u+=v*3;for(var H=jt(z),D=(1<<H)-1,F=be(z,H,1),T=0;T<x;){var O=F[fe(r,u,D)];u+=O&15;var $=O>>4;if($<16)A[T++]=$;else{var N=0,U=0;for($==16?(U=3+fe(r,u,3),u+=2,N=A[T-1]):$==17?(U=3+fe(r,u,7),u+=3):$==18&&(U=11+fe(r,u,127),u+=7);U--;)A[T++]=N}}var L=A.subarray(0,S),P=A.subarray(S);k=jt(L),b=jt(P),d=be(L,k,1),w=be(P,b,1)}else Me(1);else{var $=Xt(u)+4,m=r[$-4]|r[$-3]<<8,y=$+m;if(y>n){c&&Me(0);break}a&&l(p+m),e.set(r.subarray($,y),p),s.b=p+=m,s.p=u=y*8,s.f=h;continue}if(u>M){c&&Me(0);break}}a&&l(p+131072);for(var ue=(1<<k)-1,ee=(1<<b)-1,xe=u;;xe=u){var N=d[Vt(r,u)&ue],ae=N>>4;if(u+=N&15,u>M){c&&Me(0);break}if(N||Me(2),ae<256)e[p++]=ae;else if(ae==256){xe=u,d=null;break}else{var le=ae-254;if(ae>264){var T=ae-257,V=kt[T];le=fe(r,u,(1<<V)-1)+ln[T],u+=V}var ge=w[Vt(r,u)&ee],He=ge>>4;ge||Me(3),u+=ge&15;var P=gi[He];if(He>3){var V=At[He];P+=Vt(r,u)&(1<<V)-1,u+=V}if(u>M){c&&Me(0);break}a&&l(p+131072);var Be=p+le;if(p<P){var gt=i-P,vt=Math.min(P,Be);for(gt+p<0&&Me(3);p<vt;++p)e[p]=t[gt+p]}for(;p<Be;++p)e[p]=e[p-P]}}s.l=d,s.p=xe,s.b=p,s.f=h,d&&(h=1,s.m=k,s.d=w,s.n=b)}while(!h);return p!=e.length&&o?hn(e,0,p):e.subarray(0,p)},Ae=function(r,s,e){e<<=s&7;var t=s/8|0;r[t]|=e,r[t+1]|=e>>8},ct=function(r,s,e){e<<=s&7;var t=s/8|0;r[t]|=e,r[t+1]|=e>>8,r[t+2]|=e>>16},Gt=function(r,s){for(var e=[],t=0;t<r.length;++t)r[t]&&e.push({s:t,f:r[t]});var n=e.length,i=e.slice();if(!n)return{t:pn,l:0};if(n==1){var o=new te(e[0].s+1);return o[e[0].s]=1,{t:o,l:1}}e.sort(function(y,S){return y.f-S.f}),e.push({s:-1,f:25001});var a=e[0],c=e[1],l=0,h=1,u=2;for(e[0]={s:-1,f:a.f+c.f,l:a,r:c};h!=n-1;)a=e[e[l].f<e[u].f?l++:u++],c=e[l!=h&&e[l].f<e[u].f?l++:u++],e[h++]={s:-1,f:a.f+c.f,l:a,r:c};for(var p=i[0].s,t=1;t<n;++t)i[t].s>p&&(p=i[t].s);var d=new ce(p+1),w=Yt(e[h-1],d,0);if(w>s){var t=0,k=0,b=w-s,M=1<<b;for(i.sort(function(S,v){return d[v.s]-d[S.s]||S.f-v.f});t<n;++t){var E=i[t].s;if(d[E]>s)k+=M-(1<<w-d[E]),d[E]=s;else break}for(k>>=b;k>0;){var $=i[t].s;d[$]<s?k-=1<<s-d[$]++-1:++t}for(;t>=0&&k;--t){var m=i[t].s;d[m]==s&&(--d[m],++k)}w=s}return{t:new te(d),l:w}},Yt=function(r,s,e){return r.s==-1?Math.max(Yt(r.l,s,e+1),Yt(r.r,s,e+1)):s[r.s]=e},nn=function(r){for(var s=r.length;s&&!r[--s];);for(var e=new ce(++s),t=0,n=r[0],i=1,o=function(c){e[t++]=c},a=1;a<=s;++a)if(r[a]==n&&a!=s)++i;else{if(!n&&i>2){for(;i>138;i-=138)o(32754);i>2&&(o(i>10?i-11<<5|28690:i-3<<5|12305),i=0)}else if(i>3){for(o(n),--i;i>6;i-=6)o(8304);i>2&&(o(i-3<<5|8208),i=0)}for(;i--;)o(n);i=1,n=r[a]}return{c:e.subarray(0,t),n:s}},ht=function(r,s){for(var e=0,t=0;t<s.length;++t)e+=r[t]*s[t];return e},un=function(r,s,e){var t=e.length,n=Xt(s+2);r[n]=t&255,r[n+1]=t>>8,r[n+2]=r[n]^255,r[n+3]=r[n+1]^255;for(var i=0;i<t;++i)r[n+i+4]=e[i];return(n+4+t)*8},rn=function(r,s,e,t,n,i,o,a,c,l,h){Ae(s,h++,e),++n[256];for(var u=Gt(n,15),p=u.t,d=u.l,w=Gt(i,15),k=w.t,b=w.l,M=nn(p),E=M.c,$=M.n,m=nn(k),y=m.c,S=m.n,v=new ce(19),x=0;x<E.length;++x)++v[E[x]&31];for(var x=0;x<y.length;++x)++v[y[x]&31];for(var A=Gt(v,7),z=A.t,T=A.l,H=19;H>4&&!z[Kt[H-1]];--H);var D=l+5<<3,F=ht(n,Se)+ht(i,ut)+o,O=ht(n,p)+ht(i,k)+o+14+3*H+ht(v,z)+2*v[16]+3*v[17]+7*v[18];if(c>=0&&D<=F&&D<=O)return un(s,h,r.subarray(c,c+l));var N,U,L,P;if(Ae(s,h,1+(O<F)),h+=2,O<F){N=be(p,d,0),U=p,L=be(k,b,0),P=k;var ue=be(z,T,0);Ae(s,h,$-257),Ae(s,h+5,S-1),Ae(s,h+10,H-4),h+=14;for(var x=0;x<H;++x)Ae(s,h+3*x,z[Kt[x]]);h+=3*H;for(var ee=[E,y],xe=0;xe<2;++xe)for(var ae=ee[xe],x=0;x<ae.length;++x){var le=ae[x]&31;Ae(s,h,ue[le]),h+=z[le],le>15&&(Ae(s,h,ae[x]>>5&127),h+=ae[x]>>12)}}else N=vi,U=Se,L=wi,P=ut;for(var x=0;x<a;++x){var V=t[x];if(V>255){var le=V>>18&31;ct(s,h,N[le+257]),h+=U[le+257],le>7&&(Ae(s,h,V>>23&31),h+=kt[le]);var ge=V&31;ct(s,h,L[ge]),h+=P[ge],ge>3&&(ct(s,h,V>>5&8191),h+=At[ge])}else ct(s,h,N[V]),h+=U[V]}return ct(s,h,N[256]),h+U[256]},ki=new Qt([65540,131080,131088,131104,262176,1048704,1048832,2114560,2117632]),pn=new te(0),Ai=function(r,s,e,t,n,i){var o=i.z||r.length,a=new te(t+o+5*(1+Math.ceil(o/7e3))+n),c=a.subarray(t,a.length-n),l=i.l,h=(i.r||0)&7;if(s){h&&(c[0]=i.r>>3);for(var u=ki[s-1],p=u>>13,d=u&8191,w=(1<<e)-1,k=i.p||new ce(32768),b=i.h||new ce(w+1),M=Math.ceil(e/3),E=2*M,$=function(Ct){return(r[Ct]^r[Ct+1]<<M^r[Ct+2]<<E)&w},m=new Qt(25e3),y=new ce(288),S=new ce(32),v=0,x=0,A=i.i||0,z=0,T=i.w||0,H=0;A+2<o;++A){var D=$(A),F=A&32767,O=b[D];if(k[F]=O,b[D]=F,T<=A){var N=o-A;if((v>7e3||z>24576)&&(N>423||!l)){h=rn(r,c,0,m,y,S,x,z,H,A-H,h),z=v=x=0,H=A;for(var U=0;U<286;++U)y[U]=0;for(var U=0;U<30;++U)S[U]=0}var L=2,P=0,ue=d,ee=F-O&32767;if(N>2&&D==$(A-ee))for(var xe=Math.min(p,N)-1,ae=Math.min(32767,A),le=Math.min(258,N);ee<=ae&&--ue&&F!=O;){if(r[A+L]==r[A+L-ee]){for(var V=0;V<le&&r[A+V]==r[A+V-ee];++V);if(V>L){if(L=V,P=ee,V>xe)break;for(var ge=Math.min(ee,V-2),He=0,U=0;U<ge;++U){var Be=A-ee+U&32767,gt=k[Be],vt=Be-gt&32767;vt>He&&(He=vt,O=Be)}}}F=O,O=k[F],ee+=F-O&32767}if(P){m[z++]=268435456|Zt[L]<<18|sn[P];var Je=Zt[L]&31,Ye=sn[P]&31;x+=kt[Je]+At[Ye],++y[257+Je],++S[Ye],T=A+L,++v}else m[z++]=r[A],++y[r[A]]}}for(A=Math.max(A,T);A<o;++A)m[z++]=r[A],++y[r[A]];h=rn(r,c,l,m,y,S,x,z,H,A-H,h),l||(i.r=h&7|c[h/8|0]<<3,h-=7,i.h=b,i.p=k,i.i=A,i.w=T)}else{for(var A=i.w||0;A<o+l;A+=65535){var Ne=A+65535;Ne>=o&&(c[h/8|0]=l,Ne=o),h=un(c,h+1,r.subarray(A,Ne))}i.i=o}return hn(a,0,t+Xt(h)+n)};var Mi=function(r,s,e,t,n){if(!n&&(n={l:1},s.dictionary)){var i=s.dictionary.subarray(-32768),o=new te(i.length+r.length);o.set(i),o.set(r,i.length),r=o,n.w=i.length}return Ai(r,s.level==null?6:s.level,s.mem==null?n.l?Math.ceil(Math.max(8,Math.min(13,Math.log(r.length)))*1.5):20:12+s.mem,e,t,n)};function dn(r,s){return Mi(r,s||{},0,0)}function Mt(r,s){return $i(r,{i:2},s&&s.out,s&&s.dictionary)}var Ei=typeof TextDecoder<"u"&&new TextDecoder,Si=0;try{Ei.decode(pn,{stream:!0}),Si=1}catch{}var I=class extends Error{constructor(e,t){super(`at byte ${e}: ${t}`);this.offset=e;this.name="RecordingError"}},fn="gemurec",mn=1,gn=2,je=32,es=24,Li=65535,Et=65534,vn=64<<20,Ti=1<<20,Ci=1<<22,bn=65536,zi=4*258,Ri=512<<20,Ii={u8:Uint8Array,u16:Uint16Array,u32:Uint32Array,i8:Int8Array,i16:Int16Array,i32:Int32Array},ts={u8:1,u16:2,u32:4,u64:8,i8:1,i16:2,i32:4,i64:8,text:8};var Pi=(()=>{let r=new Uint32Array(256);for(let s=0;s<256;s++){let e=s;for(let t=0;t<8;t++)e=e&1?3988292384^e>>>1:e>>>1;r[s]=e}return r})();function wn(...r){let s=4294967295;for(let e of r)for(let t=0;t<e.length;t++)s=Pi[(s^e[t])&255]^s>>>8;return(s^4294967295)>>>0}var St=class{constructor(s,e){this.name=s;this.file=e;this.columns=[];this.rows=0;this.blocks=[];this.decoded=new Map}numbers(s){return this.column(s,e=>e!=="text"&&ts[e]<=4,()=>new Uint8Array(this.rows))}wide(s){return this.column(s,e=>e==="u64"||e==="i64",()=>({lo:new Uint32Array(this.rows),hi:new Uint32Array(this.rows)}))}counts(s){let{lo:e,hi:t}=this.wide(s),n=new Float64Array(e.length);for(let i=0;i<n.length;i++){if(t[i]>=1<<21)throw new I(this.blocks[0].offset,`column ${s} of table ${this.name} has a number that is too large`);n[i]=t[i]*2**32+e[i]}return n}texts(s){return this.column(s,e=>e==="text",()=>new Array(this.rows).fill(""))}column(s,e,t){let n=this.decoded.get(s),i=this.columns.findIndex(a=>a.name===s),o=i<0?void 0:this.columns[i].type;if(o!==void 0&&!e(o))throw new I(this.blocks[0]?.offset??0,`column ${s} of table ${this.name} has the type ${o}, which does not fit its use`);return n===void 0&&(this.file.reserve(this.rows*(o?ts[o]:8)),n=o===void 0?t():this.decode(i,o),this.decoded.set(s,n)),n}decode(s,e){if(e==="text"){let n=[];for(let i of this.blocks)this.file.decodeTexts(i,s,n);return n}let t={lo:new Uint32Array(this.rows),hi:new Uint32Array(e==="u64"||e==="i64"?this.rows:0)};for(let n of this.blocks)this.file.decodeNumbers(n,s,t);return e==="u64"||e==="i64"?t:e==="u32"?t.lo:new Ii[e](t.lo)}},Le=class{constructor(s){this.bytes=s;this.tables=new Map;this.reserved=0;if(this.view=new DataView(s.buffer,s.byteOffset,s.byteLength),s.length<8||this.ascii(0,7)!==fn)throw new I(0,"this is not a recording of gemu");if(this.version=s[7],this.version<mn||this.version>gn)throw new I(0,`the recording has format version ${this.version}; this page reads versions ${mn} to ${gn}`);let{complete:e,offsets:t}=this.readDirectory();this.complete=e;let n=t.map(o=>this.readHeader(o));if(n.length===0)throw new I(8,"the recording ends before its first block");this.readSchema(n[0]);let i=[...this.tables.values()];for(let o of n.slice(1)){let a=i[o.table];if(a===void 0)throw new I(o.offset,`a block belongs to the unknown table ${o.table}`);if(o.first!==a.rows||o.columns.length!==a.columns.length)throw new I(o.offset,`a block of the table ${a.name} does not continue the blocks before it`);a.rows+=o.rows,a.blocks.push(o)}}table(s){return this.tables.get(s)??new St(s,this)}names(s,e){let t=this.table("enumerations");if(t.rows>65536)throw new I(t.blocks[0].offset,"the table enumerations has too many rows");let[n,i,o,a]=[t.texts("table"),t.texts("column"),t.numbers("value"),t.texts("name")],c=[];for(let l=0;l<n.length;l++)n[l]===s&&i[l]===e&&(c[o[l]]=a[l]);return c}reserve(s){if(this.reserved+=s,this.reserved>Ri)throw new I(0,"the recording is too large for the page: record fewer events (--max-events), or a part (--cta, --warps)")}ascii(s,e){return String.fromCharCode(...this.bytes.subarray(s,s+e))}count(s){let e=this.view.getUint32(s+4,!0);return e>=1<<21?1/0:e*2**32+this.view.getUint32(s,!0)}readDirectory(){let s=this.bytes.length;if(s>=24&&this.ascii(s-8,8)===fn+`
`){let t=this.count(s-16),n=this.readHeader(t);if(n.table!==Et||n.columns.length!==4)throw new I(t,"the directory is missing at the place that the end of the file states");if(n.rows>s/je)throw new I(t,"the directory has more blocks than the file has room for");let i={lo:new Uint32Array(n.rows),hi:new Uint32Array(n.rows)};return this.decodeNumbers(n,0,i),{complete:!0,offsets:Array.from(i.lo,(o,a)=>i.hi[a]*2**32+o)}}let e=[];for(let t=8;;){let n;try{n=this.readHeader(t)}catch{break}if(n.table===Et)break;e.push(t),t=n.end}return{complete:!1,offsets:e}}readHeader(s){let{view:e,bytes:t}=this;if(!(s<=t.length-je))throw new I(Math.min(s,t.length),"the file ends in the header of a block");let n=e.getUint32(s+4,!0),i=e.getUint16(s+10,!0),o={offset:s,table:e.getUint16(s+8,!0),rows:e.getUint32(s+12,!0),first:this.count(s+16),columns:[],end:s+je+n};if(this.ascii(s,4)!=="gblk")throw new I(s,"no block header at this place");if(n>vn||o.end>t.length)throw new I(s,"the file ends in a block");if(o.rows===0)throw new I(s,"a block has no rows");if(o.rows>(o.table===Et?Ci:Ti)||i*es>n)throw new I(s,"a block has more rows or columns than its size allows");let a=s+je+i*es;if(wn(t.subarray(s,s+24),t.subarray(s+je,a))!==e.getUint32(s+24,!0))throw new I(s,"the header of a block is damaged: its checksum is wrong");for(let c=0;c<i;c++){let l=s+je+c*es,h={encoding:t[l],width:t[l+1],flags:e.getUint16(l+2,!0),stored:e.getUint32(l+4,!0),plain:e.getUint32(l+8,!0),sum:e.getUint32(l+12,!0),baseLo:e.getUint32(l+16,!0),baseHi:e.getUint32(l+20,!0),at:a};if(a+h.stored>o.end||h.plain>vn)throw new I(s,"a column is longer than its block");o.columns.push(h),a+=Math.ceil(h.stored/8)*8}return o}readSchema(s){if(s.table!==Li||s.columns.length!==3)throw new I(s.offset,"the first block must list the columns of the tables");if(s.rows>bn)throw new I(s.offset,`${s.rows} columns; a recording has at most ${bn}`);let[e,t,n]=[0,1,2].map(i=>{let o=[];return this.decodeTexts(s,i,o),o});e.forEach((i,o)=>{let a=this.tables.get(i);if(a===void 0&&this.tables.set(i,a=new St(i,this)),!(n[o]in ts))throw new I(s.offset,`column ${t[o]} of table ${i} has the unknown type ${JSON.stringify(n[o])}`);a.columns.push({name:t[o],type:n[o]})})}inflated(s,e,t){let n=a=>{throw new I(s.offset,a)};e.flags&-2&&n(`unknown flags ${e.flags} of a column`),e.encoding>3&&n(`unknown encoding ${e.encoding} of a column`),e.encoding===3!==t&&n("a column has values of another type than the schema states"),e.plain>zi*e.stored&&n("a column is larger than its stored bytes can hold"),t?e.plain<4*s.rows&&n("the size of a column of texts is wrong"):(e.encoding===0?e.plain!==0:![1,2,4,8].includes(e.width)||e.plain!==s.rows*e.width)&&n("the size of a column does not match its number of values");let i=this.bytes.subarray(e.at,e.at+e.stored);if(wn(i)!==e.sum&&n("a column is damaged: its checksum is wrong"),!(e.flags&1))return e.stored!==e.plain&&n("the stored size of an uncompressed column differs from its size"),i;let o;try{o=Mt(i,{out:new Uint8Array(e.plain+1)})}catch(a){return n(`a column cannot be decompressed: ${a.message}`)}return o.length!==e.plain&&n("a column has another size after decompression than its descriptor states"),o}decodeNumbers(s,e,t){let n=s.columns[e],i=this.inflated(s,n,!1),o=new DataView(i.buffer,i.byteOffset,i.byteLength),a=s.table===Et?0:s.first,c=t.hi.length>0,[l,h]=[n.baseLo,n.baseHi];if(n.encoding===0){t.lo.fill(l,a,a+s.rows),c&&t.hi.fill(h,a,a+s.rows);return}let u=n.encoding===2;for(let p=0,d=0;p<s.rows;p++,d+=n.width){let[w,k]=[0,0];switch(n.width){case 1:w=u?o.getInt8(d):i[d];break;case 2:w=u?o.getInt16(d,!0):o.getUint16(d,!0);break;default:w=u?o.getInt32(d,!0):o.getUint32(d,!0)}n.width===8?(k=o.getUint32(d+4,!0),w>>>=0):w<0&&(k=4294967295,w>>>=0);let b=(u?l:n.baseLo)+w,M=(u?h:n.baseHi)+k+(b>4294967295?1:0)>>>0;t.lo[a+p]=b,c&&(t.hi[a+p]=M),u&&([l,h]=[b>>>0,M])}}decodeTexts(s,e,t){let n=s.columns[e];this.reserve(n.plain);let i=this.inflated(s,n,!0),o=new DataView(i.buffer,i.byteOffset,i.byteLength),a=new TextDecoder,c=4*s.rows;for(let l=0;l<s.rows;l++){let h=o.getUint32(4*l,!0);if(h>i.length-c)throw new I(s.offset,"a text is longer than its column");t.push(a.decode(i.subarray(c,c+h))),c+=h}}};var Ui=3,Wi={class:"none",base:0n,stride:0n,lanes:0,few:!0};function yn(r,s,e){let t=Y(r);if(t.length===0)return Wi;let n=t.map(e),i=t.length<Ui,o=Math.min(s,64);if(n.every(p=>p===n[0]))return{class:"uniform",base:n[0],stride:0n,lanes:t.length,few:i};let a={class:"generic",base:0n,stride:0n,lanes:t.length,few:i};if(s===1||s>64)return a;let c=BigInt(t[1]-t[0]),l=BigInt.asIntN(o,n[1]-n[0]);if(l%c!==0n)return a;let h=l/c,u=BigInt.asUintN(o,n[0]-h*BigInt(t[0]));for(let p=1;p<t.length;p++)if(BigInt.asUintN(o,u+h*BigInt(t[p]))!==n[p])return a;return{class:"affine",base:u,stride:h,lanes:t.length,few:i}}var ss=new DataView(new ArrayBuffer(8));function Hi(r,s){if(ss.setBigUint64(0,r,!0),s===32)return xn(ss.getFloat32(0,!0),7);if(s===64)return xn(ss.getFloat64(0,!0),12)}function xn(r,s){return Number.isNaN(r)?"NaN":Number.isFinite(r)?String(Number(r.toPrecision(s))):r<0?"-∞":"∞"}var Bi=(r,s)=>s===64&&r>=0x1000000n;function pt(r,s,e){return e||r.launch.isAddress(s)&&!s.type.startsWith(".f")?16:10}function Ge(r,s,e,t=10){if(e===1)return r?"1":"0";if(t===16)return Ve(r);if(s.startsWith(".f"))return Hi(r,e)??Ve(r);if(e>64||Bi(r,e)&&!s.startsWith(".s"))return Ve(r);let n=BigInt.asIntN(e,r);return s.startsWith(".s")||s.startsWith(".b")&&n<0n&&n>-65536n?n.toString().replace("-","−"):r.toString()}function Lt(r,s){if(r.length<=s)return r;let e=Number(r.replace("−","-"));if(Number.isFinite(e)&&!/^0x/.test(r))for(let t=s;t>0;t--){let n=Number(e.toPrecision(t)),i=[String(n),n.toExponential(t-1).replace("e+","e").replace(/\.?0*e/,"e")].find(o=>o.length<=s);if(i)return r.startsWith("−")?i.replace("-","−"):i}return dt(r,s)}var dt=(r,s)=>r.length<=s?r:"…"+r.slice(-(s-1));function Ve(r){return"0x"+r.toString(16)}function $n(r,s,e,t=10){if(r.class==="uniform")return Ge(r.base,s,e,t);if(r.class!=="affine")return"";let n=s.startsWith(".f")?Ve(r.base):Ge(r.base,s,e,t),i=a=>t===16&&a>9n?Ve(a):String(a),o=r.stride<0n?`− ${i(-r.stride)}`:`+ ${i(r.stride)}`;return`${r.base===0n?r.stride<0n?"0 "+o:i(r.stride):`${n} ${o}`} · lane`}var is=class{constructor(s,e="event"){this.events=s.counts(e)}first(s){let[e,t]=[0,this.events.length];for(;e<t;){let n=e+t>>>1;this.events[n]<s?e=n+1:t=n}return e}*rows(s){for(let e=this.first(s);e<this.events.length&&this.events[e]===s;e++)yield e}event(s){return this.events[s]}get length(){return this.events.length}},kn=4e6;function Ke(r){let s=r.table("launches").rows;if(s>1e4)throw new I(0,`the recording has ${s} launches; the page shows at most 10000: record fewer (--only-kernel)`);return Ni(r.table("events").numbers("launch"),s).map((t,n)=>new rs(r,n,t))}function Ni(r,s){let e=new Uint32Array(s);for(let i=0;i<r.length;i++)r[i]<s&&e[r[i]]++;let t=Array.from(e,i=>new Uint32Array(i)),n=new Uint32Array(s);for(let i=0;i<r.length;i++)r[i]<s&&(t[r[i]][n[r[i]]++]=i);return t}var ns=r=>r<26?String.fromCharCode(65+r):r<36?String(r-26):"#";function Oi(r,s,e){if(!s)return e?"done":"stopped";let t=`: trap in kernel ${r}: `,n=s.indexOf(t);if(n<0)return e?"trap":"stopped";let i=s.slice(n+t.length);return/^(deadlock\b|a CTA waits for a CTA that cannot begin)/.test(i)?"deadlock":/^(step|time) limit reached/.test(i)?"stopped":"trap"}var rs=class{constructor(s,e,t){this.recording=s;this.row=e;this.instructions=[];this.registers=[];this.blocks=[];this.sources=[];this.warps=[];this.firstRegister=new Map;this.starts=[];this.models=new Map;this.index=new Map;let n=s,i=n.table("launches"),o=w=>Number(i.numbers(w)[e]);if(this.kernel=i.texts("kernel")[e],this.file=i.texts("file")[e],this.grid=[o("grid_x"),o("grid_y"),o("grid_z")],this.block=[o("block_x"),o("block_y"),o("block_z")],this.warpSize=o("warp_size")||32,this.warpSize>64)throw new I(0,`launch ${e} has warps of ${this.warpSize} lanes; want at most 64`);this.policy=i.texts("reconverge")[e],this.firstInstruction=o("first_instruction");let a=new Set((n.table("recording").texts("contents")[0]??"").split(/,\s*/));this.has={results:a.has("results"),accesses:a.has("accesses"),stack:a.has("stack")};let c=n.table("ends"),l=Array.from(c.numbers("launch")).indexOf(e);this.error=l<0?"":c.texts("error")[l],this.complete=l>=0&&c.numbers("complete")[l]===1,this.outcome=Oi(this.kernel,this.error,this.complete),this.readProgram(o("instructions"),o("first_block"),o("blocks"),o("first_source"),o("sources"));let h=n.table("events");if(h.rows>kn)throw new I(0,`the recording has ${h.rows} events; the page shows at most ${kn}: record fewer (--max-events)`);let[u,p]=[h.wide("active"),h.wide("lanes")];this.columns={kind:h.numbers("kind"),instruction:h.numbers("instruction"),activeLo:u.lo,activeHi:u.hi,lanesLo:p.lo,lanesHi:p.hi,depth:h.numbers("depth"),reconverge:h.numbers("reconverge")};let d=n.table("operands");this.operands={instruction:d.numbers("instruction"),register:d.numbers("register"),writes:d.numbers("writes")},this.order=this.groupByWarp(h,t)}readProgram(s,e,t,n,i){let o=this.recording,a=o.table("instructions"),[c,l,h,u,p,d]=[a.texts("function"),a.numbers("line"),a.texts("class"),a.texts("text"),a.texts("source_file"),a.numbers("source_line")],w=s||(this.firstInstruction===0&&o.table("launches").rows===1?a.rows:0);if(this.firstInstruction+w>a.rows)throw new I(0,`launch ${this.row} has instructions that the recording lacks`);let k=new Set;for(let L=0;L<w;L++){let P=this.firstInstruction+L;k.add(c[P]),this.instructions.push({index:L,function:c[P],line:l[P],class:h[P],text:u[P],sourceFile:p[P],sourceLine:d[P],block:-1})}let b=o.table("registers"),[M,E,$,m]=[b.texts("function"),b.texts("name"),b.texts("type"),b.numbers("bits")];for(let L=0;L<b.rows;L++)k.has(M[L])&&(this.firstRegister.set(L,this.registers.length),this.registers.push({index:this.registers.length,function:M[L],name:E[L],type:$[L],bits:m[L]||32}));let y=o.table("blocks");if(e+t>y.rows)throw new I(0,`launch ${this.row} has basic blocks that the recording lacks`);let[S,v,x,A,z]=[y.texts("function"),y.texts("labels"),y.numbers("first"),y.numbers("instructions"),y.numbers("post_dominator")];for(let L=0;L<t;L++){let P=e+L,ue={index:L,function:S[P],labels:v[P]?v[P].split(" "):[],first:x[P]-this.firstInstruction,instructions:A[P],letter:"",next:[],postDominator:z[P]<0?-1:z[P]-e};if(ue.first<0||ue.first+ue.instructions>w)throw new I(0,`basic block ${P} has instructions that the launch lacks`);this.blocks.push(ue);for(let ee=0;ee<ue.instructions;ee++)this.instructions[ue.first+ee].block=L}let T=o.table("edges"),[H,D]=[T.numbers("from"),T.numbers("to")];for(let L=0;L<T.rows;L++){let P=this.blocks[H[L]-e];P&&P.next.push(D[L]<0?-1:D[L]-e)}let F=o.table("sources");if(n+i>F.rows)throw new I(0,`launch ${this.row} has texts that the recording lacks`);let[O,N,U]=[F.numbers("kind"),F.texts("name"),F.texts("text")];for(let L=n;L<n+i;L++)this.sources.push({kind:O[L]===0?"ptx":"compiled",name:N[L],text:U[L]})}letterBlocks(){let s=new Set;for(let t of this.blocks){let n=t.labels.find(i=>/^[A-Za-z]$/.test(i));n&&t.instructions>0&&s.add(t.letter=n)}let e=0;for(let t of this.blocks)if(!(t.letter||t.instructions===0)){for(;s.has(ns(e))&&ns(e)!=="#";)e++;t.letter=ns(e++)}}findBlocks(){let s=new Set,e=new Map,t=this.recording.table("groups"),[n,i,o]=[t.numbers("instruction"),this.byEvent("groups"),this.firstInstruction],a=new Set(this.order);for(let c=0;c<t.rows;c++){if(!a.has(i.event(c)))continue;let l=this.columns.instruction[i.event(c)]-o,h=n[c]<0?-1:n[c]-o;e.has(l)||e.set(l,new Set),e.get(l).add(h),s.add(l+1),s.add(h)}this.instructions.forEach((c,l)=>{let h=this.instructions[l-1];(!h||h.function!==c.function||s.has(l)||/^(@!?%\S+\s+)?(bra|brx|ret|exit|trap)\b/.test(h.text))&&this.blocks.push({index:this.blocks.length,function:c.function,labels:[],first:l,instructions:0,letter:"",next:[],postDominator:-1});let u=this.blocks[this.blocks.length-1];u.instructions++,c.block=u.index});for(let c of this.blocks){let l=c.first+c.instructions-1,h=this.instructions[l].text,u=e.get(l)??new Set(/^(bra|brx|ret|exit|trap)\b/.test(h)||!this.instructions[l+1]?[]:[l+1]);for(let p of u)c.next.push(p<0?-1:this.instructions[p].block);/^(@!?%\S+\s+)?(ret|exit)\b/.test(h)&&!c.next.includes(-1)&&c.next.push(-1)}}groupByWarp(s,e){let[t,n,i]=[s.numbers("cta"),s.numbers("warp"),s.numbers("kind")],o=this.exitsByBranch(s,e),a=new Map,c=new Int32Array(e.length).fill(-1),l=[],h=-1,u=-1;for(let b=0;b<e.length;b++){let M=e[b];if(n[M]<0||o.has(M))continue;let E=t[M]*2048+n[M];if(E!==u){let m=a.get(E);m===void 0&&(m=this.warps.length,a.set(E,m),this.warps.push({cta:t[M],warp:n[M],steps:0,lanes:q}),l.push(0)),[h,u]=[m,E]}c[b]=h,l[h]++;let $=this.warps[h];i[M]===0&&$.steps++,i[M]===14&&(this.trap??={cta:t[M],warp:n[M]}),$.lanes=Z($.lanes,j(this.columns.activeLo[M],this.columns.activeHi[M]))}let p=this.warps.map((b,M)=>({w:b,i:M})).sort((b,M)=>b.w.cta-M.w.cta||b.w.warp-M.w.warp),d=new Float64Array(this.warps.length),w=0;p.forEach(({w:b,i:M},E)=>{this.warps[E]=b,this.starts.push(w),d[M]=w,w+=l[M]}),this.starts.push(w);let k=new Uint32Array(w);for(let b=0;b<e.length;b++)c[b]>=0&&(k[d[c[b]]++]=e[b]);return k}exitsByBranch(s,e){let[t,n,i,o]=[s.numbers("cta"),s.numbers("warp"),s.numbers("kind"),s.wide("step")],a=this.columns,c=new Set,l=-1,h=new Map;for(let u=e.length-1;u>=0;u--){let p=e[u];if(n[p]<0)continue;let d=t[p]*2048+n[p];if(i[p]===0){let w=h.get(d)??-1;l>=0&&o.lo[p]===o.lo[l]&&o.hi[p]===o.hi[l]&&w>=0&&i[w]===8&&a.lanesLo[w]===a.activeLo[p]&&a.lanesHi[w]===a.activeHi[p]?c.add(p):l=p}h.set(d,p)}return c}byEvent(s){let e=this.index.get(s);return e||this.index.set(s,e=new is(this.recording.table(s),s==="stores"?"access":"event")),e}results(){if(!this.resultColumns){let[s,e]=[this.recording.table("results"),this.recording.table("values")];this.resultColumns={lanes:s.wide("lanes"),register:s.numbers("register"),cls:s.numbers("class"),base:s.wide("base"),high:s.wide("high"),stride:s.wide("stride"),values:s.wide("values"),low:e.wide("low"),top:e.wide("high"),byEvent:this.byEvent("results")}}return this.resultColumns}instructionOfRow(s){if(s<0)return-1;let e=s-this.firstInstruction;if(!(e<this.instructions.length&&e>=0))throw new I(0,`an event names instruction ${s}, which the launch lacks`);return e}findWarp(s,e){return this.warps.findIndex(t=>t.cta===s&&t.warp===e)}warp(s){let e=this.models.get(s);if(!e){if(!this.warps[s])throw new I(0,"the recording has no events of a warp");this.blocks.length===0&&this.findBlocks(),this.models.size===0&&this.letterBlocks(),this.models.size>=8&&this.models.delete(this.models.keys().next().value),this.models.set(s,e=new os(this,this.warps[s],this.order.subarray(this.starts[s],this.starts[s+1])))}return e}isAddress(s){if(!this.addresses){this.addresses=new Set;for(let e of this.instructions)for(let t of e.text.matchAll(/^(?:@!?%\w+ )?cvta/.test(e.text)?/(%[\w$]+)(?=[,;]|$)/g:/\[\s*(%[\w$]+)/g))this.addresses.add(`${e.function} ${t[1]}`)}return this.addresses.has(`${s.function} ${s.name}`)}operandsOf(s,e){let{instruction:t,register:n,writes:i}=this.operands,o=this.firstInstruction+s,[a,c]=[0,t.length];for(;a<c;){let h=a+c>>>1;t[h]<o?a=h+1:c=h}let l=[];for(;a<t.length&&t[a]===o;a++){let h=this.firstRegister.get(n[a]);h!==void 0&&i[a]===1===e&&!l.includes(h)&&l.push(h)}return l}ctaName(s){let[e,t]=this.grid;return`(${s%e},${Math.floor(s/e)%t},${Math.floor(s/(e*t))})`}},_i=["running","ready","blocked","point"],An=64,qi=24<<20,os=class{constructor(s,e,t){this.launch=s;this.info=e;this.rows=t;this.stackEvents=[];this.snapshots=[];let n=s.columns,i=e.steps;this.steps=i,this.at=new Int32Array(i),this.instruction=new Int32Array(i),[this.activeLo,this.activeHi,this.lanesLo,this.lanesHi]=[0,0,0,0].map(()=>new Uint32Array(i)),[this.endedLo,this.endedHi]=[new Uint32Array(i+1),new Uint32Array(i+1)];let o=q,a=q,c=0;for(let p=0;p<t.length;p++){let d=t[p];switch(n.kind[d]){case 0:if(this.at[c]=p,this.instruction[c]=s.instructionOfRow(n.instruction[d]),this.instruction[c]<0)throw new I(0,"an instruction event has no instruction");this.activeLo[c]=n.activeLo[d],this.activeHi[c]=n.activeHi[d],this.lanesLo[c]=n.lanesLo[d],this.lanesHi[c]=n.lanesHi[d],this.endedLo[c]=a.lo,this.endedHi[c]=a.hi,c++,o=Z(o,j(n.activeLo[d],n.activeHi[d]));break;case 11:o=Z(o,j(n.activeLo[d],n.activeHi[d]));break;case 8:a=Z(a,j(n.lanesLo[d],n.lanesHi[d]));break;case 12:a=o}}this.endedLo[i]=a.lo,this.endedHi[i]=a.hi,this.lanes=o;let l=s.byEvent("stack"),h=0;for(let p=0;p<t.length&&l.length>0;p++){for(;h<l.length&&l.event(h)<t[p];)h++;h<l.length&&l.event(h)===t[p]&&this.stackEvents.push(t[p])}let u=s.registers.length*s.warpSize*9;this.interval=An*Math.max(1,Math.ceil(u*(i/An)/qi))}active(s){return s<this.steps?j(this.activeLo[s],this.activeHi[s]):q}executing(s){return s<this.steps?j(this.lanesLo[s],this.lanesHi[s]):q}ended(s){return j(this.endedLo[s],this.endedHi[s])}instructionAt(s){return this.launch.instructions[this.instruction[s]]}line(s){return this.instructionAt(s)?.line??0}eventOf(s){return s<this.steps?this.rows[this.at[s]]:(this.rows[this.rows.length-1]??0)+1}stepAtEvent(s){let[e,t]=[0,this.steps];for(;e<t;){let n=e+t>>>1;this.rows[this.at[n]]<=s?e=n+1:t=n}return e===this.steps&&s>(this.rows[this.rows.length-1]??0)?this.steps:Math.max(0,e-1)}*after(s){for(let e=this.at[s]+1;e<(s+1<this.steps?this.at[s+1]:this.rows.length);e++)yield this.rows[e]}outcome(s){let e={groups:[],split:!1,reconverged:q,waiting:q,barrier:-1,woken:q,ended:q,called:"",returned:!1,trap:""};if(s>=this.steps)return e;let t=this.launch.columns,n=this.launch.recording;for(let i of this.after(s)){let o=j(t.lanesLo[i],t.lanesHi[i]);switch(t.kind[i]){case 1:case 2:e.groups=this.groupsOf(i),e.split||=t.kind[i]===2;break;case 3:e.reconverged=o;break;case 4:e.waiting=Z(e.waiting,o),e.barrier=this.barrierOf(i);break;case 5:e.woken=Z(e.woken,o);break;case 8:e.ended=Z(e.ended,o);break;case 6:for(let a of this.launch.byEvent("calls").rows(i))e.called=n.table("calls").texts("function")[a];break;case 7:e.returned=!0;break;case 14:for(let a of this.launch.byEvent("traps").rows(i))e.trap=n.table("traps").texts("message")[a]}}return e}groupsOf(s){let e=this.launch.recording.table("groups"),[t,n]=[e.wide("lanes"),e.numbers("instruction")],i=[];for(let o of this.launch.byEvent("groups").rows(s))i.push({lanes:j(t.lo[o],t.hi[o]),instruction:this.launch.instructionOfRow(n[o])});return i}barrierOf(s){let e=this.launch.recording.table("waits").numbers("barrier");for(let t of this.launch.byEvent("waits").rows(s))return e[t];return-1}splits(s){let e=this.launch.columns;if(s>=this.steps)return!1;for(let t of this.after(s))if(e.kind[t]===2)return!0;return!1}branches(s){return/^(@\S+\s+)?(bra|brx)\b/.test(this.instructionAt(s)?.text??"")}reconverges(s){let e=this.launch.columns;if(s>=this.steps)return!1;for(let t of this.after(s))if(e.kind[t]===3)return!0;return!1}turningPoints(){if(!this.turns){let s=[];for(let e=0;e<this.steps;e++)(e+1<this.steps&&(this.activeLo[e]!==this.activeLo[e+1]||this.activeHi[e]!==this.activeHi[e+1])||this.splits(e)||this.reconverges(e))&&s.push(e);this.turns=Uint32Array.from(s)}return this.turns}asksAt(s){return s+1>=this.steps?!1:pe(this.active(s),this.active(s+1))?this.branches(s)&&this.instructionAt(s).text.startsWith("@"):!0}stackAt(s){let e=this.eventOf(s),[t,n]=[0,this.stackEvents.length];for(;t<n;){let p=t+n>>>1;this.stackEvents[p]<=e?t=p+1:n=p}if(t===0)return[];let i=this.launch.recording.table("stack"),[o,a,c,l,h]=[i.numbers("kind"),i.wide("lanes"),i.wide("arrived"),i.numbers("instruction"),i.numbers("depth")],u=[];for(let p of this.launch.byEvent("stack").rows(this.stackEvents[t-1])){let d=_i[o[p]]??"ready";u.push({kind:d,lanes:j(a.lo[p],a.hi[p]),arrived:j(c.lo[p],c.hi[p]),instruction:d==="running"&&s<this.steps?this.instruction[s]:this.launch.instructionOfRow(l[p]),depth:h[p]})}return Di(u)}state(s){if(s=Math.max(0,Math.min(s,this.steps)),this.stateCache?.step===s)return this.stateCache;let e=this.launch.warpSize,t=s===this.steps,[n,i,o]=[this.active(s),this.executing(s),this.ended(s)],a=this.stackAt(s),c=t?-1:this.instruction[s],l=[],h=new Int8Array(e).fill(-1),u=($,m,y,S=-1,v=q,x=-1)=>{let A=l.findIndex(z=>z.reason===m&&z.instruction===y&&z.point===S&&z.barrier===x);A<0&&(A=l.push({reason:m,lanes:q,instruction:y,point:S,missing:v,barrier:x})-1),l[A].lanes=Z(l[A].lanes,qe([$])),h[$]=A},p=W(W(this.lanes,o),n),d=this.nextInstructions(s,p),w=this.waitsAt(s,p);for(let $=0;$<e;$++)if(R(this.lanes,$))if(R(n,$))u($,R(i,$)||this.branches(s)?"runs":"masked",c);else if(R(o,$))u($,"ended",-1);else if(w[$]!==void 0){let m=w[$];u($,m.barrier>=0?"barrier":"collective",m.instruction,-1,q,m.barrier)}else{let m=a.find(v=>v.kind==="point"&&R(v.arrived,$)),y=a.find(v=>(v.kind==="ready"||v.kind==="blocked")&&R(v.lanes,$)),S=d[$]>=0?d[$]:(y??m)?.instruction??-1;if(m)u($,"joins",m.instruction,m.instruction,W($e(m.lanes,this.lanes),Z(m.arrived,o)));else if(y&&y.kind==="ready"){let v=a.find(x=>x.kind==="point"&&C(W(y.lanes,x.lanes)));u($,"ready",S,v?.instruction??-1,v?W(W($e(v.lanes,this.lanes),o),y.lanes):q)}else y?u($,"collective",S):u($,t?"stuck":"waits",S)}let k=["runs","masked","ready","waits","stuck","joins","collective","barrier","ended"],b=l.map(($,m)=>({g:$,i:m})).sort(($,m)=>k.indexOf($.g.reason)-k.indexOf(m.g.reason)||$.g.instruction-m.g.instruction),M=new Map(b.map(({i:$},m)=>[$,m]));for(let $=0;$<e;$++)h[$]>=0&&(h[$]=M.get(h[$]));let E=t?0:this.launch.columns.depth[this.eventOf(s)];return this.stateCache={step:s,end:t,instruction:c,active:n,lanes:i,ended:o,groups:b.map($=>$.g),group:h,stack:a,depth:E}}nextInstructions(s,e){let t=new Int32Array(64).fill(-1),n=e;for(let o=s+1;o<this.steps&&!C(n);o++){let a=$e(n,this.active(o));if(!C(a)){for(let c of Y(a))t[c]=this.instruction[o];n=W(n,a)}}for(let o=Math.min(s,this.steps)-1;o>=0&&!C(n);o--){let a=$e(n,this.active(o));if(C(a))continue;let c=this.outcome(o).groups;for(let l of Y(a))t[l]=c.find(h=>R(h.lanes,l))?.instruction??Math.min(this.instruction[o]+1,this.launch.instructions.length-1);n=W(n,a)}let i=C(n)?-1:this.rows.findLast(o=>this.launch.columns.kind[o]===14)??-1;if(i>=0)for(let o of Y(n))t[o]=this.launch.instructionOfRow(this.launch.columns.instruction[i]);return t}waitsAt(s,e){let t=[],n=this.launch.columns,i=e;for(let o=(s<this.steps?this.at[s]:this.rows.length)-1;o>=0&&!C(i);o--){let a=this.rows[o];switch(n.kind[a]){case 4:{let c=$e(i,j(n.lanesLo[a],n.lanesHi[a]));for(let l of Y(c))t[l]={instruction:this.launch.instructionOfRow(n.instruction[a]),barrier:this.barrierOf(a)};i=W(i,c);break}case 5:i=W(i,j(n.lanesLo[a],n.lanesHi[a]));break;case 0:i=W(i,j(n.activeLo[a],n.activeHi[a]))}}return t}apply(s,e,t){let n=this.launch.warpSize,{lanes:i,register:o,cls:a,base:c,high:l,stride:h,values:u,low:p,top:d,byEvent:w}=this.launch.results(),k=p.lo.length;for(let b=w.first(t);b<w.length&&w.event(b)===t;b++){let M=this.launch.firstRegister.get(o[b]),E=a[b];if(M===void 0||E===4)continue;s.last[M]=e,s.shown[M]=void 0;let $=this.launch.registers[M].bits,m=u.lo[b];for(let y=0;y<n;y++){if(!((y<32?i.lo[b]>>>y:i.hi[b]>>>y-32)&1))continue;let S=M*n+y;s.defined[S]=1;let[v,x]=[c.lo[b],c.hi[b]];if(E===1)if($<=32)v=v+Math.imul(h.lo[b],y)>>>0;else{let A=BigInt.asUintN(64,(BigInt(x)<<32n|BigInt(v))+BigInt(y)*BigInt.asIntN(64,BigInt(h.hi[b])<<32n|BigInt(h.lo[b])));[v,x]=[Number(A&0xffffffffn),Number(A>>32n)]}else if(E===2){if(m>=k)throw new I(0,"a result names values that the recording lacks");[v,x]=[p.lo[m],p.hi[m]],$>64&&s.top.set(S,BigInt(d.hi[m])<<32n|BigInt(d.lo[m])),m++}else E===3?[v,x]=[(y<32?c.lo[b]>>>y:c.hi[b]>>>y-32)&1,0]:$>64&&s.top.set(S,BigInt(l.hi[b])<<32n|BigInt(l.lo[b]));s.lo[S]=$<32?v&(1<<$)-1:v,s.hi[S]=$>32?x:0}}}registersAfter(s){let e=this.launch.registers.length,t=this.launch.warpSize,n=l=>l?{lo:l.lo.slice(),hi:l.hi.slice(),top:new Map(l.top),defined:l.defined.slice(),last:l.last.slice(),shown:[]}:{lo:new Uint32Array(e*t),hi:new Uint32Array(e*t),top:new Map,defined:new Uint8Array(e*t),last:new Int32Array(e).fill(-1),shown:[]},i=Math.min(s,this.steps-1),o=Math.min(Math.floor(i/this.interval),this.snapshots.length),a=o*this.interval,c;this.latest&&this.latest.step>=a&&this.latest.step<=i?[c,a]=[this.latest.registers,this.latest.step+1]:c=n(o>0?this.snapshots[o-1]:void 0),this.latest=void 0;for(let l=a;l<=i;l++){l>0&&l%this.interval===0&&l/this.interval===this.snapshots.length+1&&this.snapshots.push(n(c)),l>0&&this.forget(c,l-1),this.apply(c,l,this.rows[this.at[l]]);for(let h of this.after(l))this.launch.columns.kind[h]!==1&&this.apply(c,l,h)}return this.latest={step:i,registers:c},c}forget(s,e){let{launch:t}=this,n=t.columns,i=t.warpSize;for(let o of this.after(e)){let a="";if(n.kind[o]===7)a=this.instructionAt(e).function;else if(n.kind[o]===6)for(let c of t.byEvent("calls").rows(o))a=t.recording.table("calls").texts("function")[c];if(a){for(let{index:c,function:l}of t.registers)if(l===a){s.shown[c]=void 0;for(let h=0;h<i;h++)((h<32?n.lanesLo[o]>>>h:n.lanesHi[o]>>>h-32)&1)===1&&(s.defined[c*i+h]=0)}}}}registers(s){let e=this.launch.warpSize,t=this.registersAfter(s),n=s<this.steps?this.instruction[s]:this.steps?this.instruction[this.steps-1]:-1,i=this.launch.instructions[n]?.function,o=s<this.steps?new Set(this.launch.operandsOf(n,!1)):new Set,a=s<this.steps?this.active(s):this.lanes,c=[];for(let l of this.launch.registers){let h=l.index;if(l.function!==i||t.last[h]<0&&!o.has(h))continue;let u=t.shown[h]?.values;if(!u){u=[];for(let d=0;d<e;d++){let w=h*e+d;u.push(t.defined[w]?(t.hi[w]?BigInt(t.hi[w])<<32n|BigInt(t.lo[w]):BigInt(t.lo[w]))|(l.bits>64?(t.top.get(w)??0n)<<64n:0n):void 0)}}let p=t.shown[h]?.structure;if(!p||!pe(t.shown[h].seen,a)){let d=qe(Y(a).filter(w=>u[w]!==void 0));p=yn(d,l.bits,w=>u[w])}t.shown[h]={values:u,seen:a,structure:p},c.push({register:l,values:u,structure:p,written:t.last[h]===s&&s<this.steps,read:o.has(h),last:t.last[h]})}return c}accesses(s){if(s>=this.steps)return[];let e=this.launch.recording,t=e.table("accesses"),n=e.table("values").wide("low"),[i,o,a,c,l,h,u,p]=[t.numbers("kind"),t.numbers("space"),t.numbers("bytes"),t.wide("lanes"),t.numbers("class"),t.wide("base"),t.wide("stride"),t.wide("values")],d=["global","shared","local","param","const","texture","surface"],w=[];for(let k of this.launch.byEvent("accesses").rows(this.eventOf(s))){let b=j(c.lo[k],c.hi[k]),M=[],E=p.lo[k],[$,m]=[BigInt(h.hi[k])<<32n|BigInt(h.lo[k]),BigInt(u.hi[k])<<32n|BigInt(u.lo[k])];for(let x of Y(b))if(l[k]===2){if(E>=n.lo.length)throw new I(0,"an access names addresses that the recording lacks");M[x]=BigInt(n.hi[E])<<32n|BigInt(n.lo[E]),E++}else M[x]=l[k]===1?BigInt.asUintN(64,$+m*BigInt(x)):$;let y=t.numbers("allocation")[k],S=e.table("allocations"),v=x=>BigInt(S.wide(x).hi[y])<<32n|BigInt(S.wide(x).lo[y]);w.push({kind:["load","store","atomic","zero"][i[k]]??"load",space:d[o[k]]??"global",bytes:a[k],lanes:b,addresses:M,class:["uniform","affine","generic","none","none"][l[k]]??"none",sectors:t.numbers("sectors")[k],passes:t.numbers("passes")[k],allocation:y>=0&&y<S.rows?{name:S.texts("name")[y],base:v("base"),size:v("size")}:void 0})}return w}counts(){if(this.sums)return this.sums;let[s,e,t,n]=[0,0,0,0],i=this.launch.columns;for(let o=0;o<this.steps;o++){let a=_(this.active(o));s+=a,a<_(this.lanes)&&n++}for(let o of this.rows)i.kind[o]===2&&e++,i.kind[o]===3&&t++;return this.sums={steps:this.steps,activeSum:s,used:this.steps?s/this.steps/this.launch.warpSize:0,splits:e,reconvergences:t,partial:n}}occurrence(s){let e=Math.min(s,this.steps-1),t=0;for(let i=0;i<e;i++)this.instruction[i]===this.instruction[e]&&t++;let n=this.instructionAt(e);return{line:n?.line??0,text:n?.text??"",n:t}}find(s){let t=(this.launch.instructions.filter(i=>i.text===s.text).sort((i,o)=>Math.abs(i.line-s.line)-Math.abs(o.line-s.line))[0]??this.launch.instructions.find(i=>i.line===s.line))?.index;if(t===void 0)return-1;let n=-1;for(let i=0,o=0;i<this.steps&&!(this.instruction[i]===t&&(n=i,o++===s.n));i++);return n}nextAtLine(s,e){let t=this.launch.instructions.map(e);for(let n=1;n<=this.steps;n++){let i=(s+n)%this.steps;if(t[this.instruction[i]])return i}return-1}};function Di(r){let s=r.filter(t=>t.kind==="running"),e=r.filter(t=>t.kind==="ready"||t.kind==="blocked").reverse();for(let t of r.filter(n=>n.kind==="point")){let n=i=>C(W(i.lanes,t.lanes));s.push(...e.filter(n),t),e=e.filter(i=>!n(i))}return[...s,...e]}function En(r,s){let e=Mn.get(r);e||Mn.set(r,e=new WeakMap);let t=e.get(s);if(t===void 0){t=0;let n=Math.max(r.steps,s.steps);for(;t<n&&!as(r,s,t);)t++;t===n&&(t=-1),e.set(s,t)}return t}var Mn=new WeakMap;function as(r,s,e){return e>=r.steps||e>=s.steps?e<r.steps||e<s.steps:r.activeLo[e]!==s.activeLo[e]||r.activeHi[e]!==s.activeHi[e]||r.instructionAt(e).line!==s.instructionAt(e).line}var ne=class extends ve{constructor(){super(...arguments);this.step=0;this.src="";this.launch=0;this.cta=-1;this.warp=-1;this.failure=""}static{this.properties={model:{attribute:!1},step:{type:Number,reflect:!0},src:{},launch:{type:Number},cta:{type:Number},warp:{type:Number},failure:{state:!0}}}willUpdate(e){this.src&&["src","launch","cta","warp"].some(t=>e.has(t))&&this.load()}async load(){try{let t=(await Fi(this.src))[this.launch];if(!t)throw new Error(`${this.src} has no launch ${this.launch}`);let n=this.cta<0&&this.warp<0?0:t.findWarp(Math.max(this.cta,0),Math.max(this.warp,0));this.model=t.warp(n),this.failure=""}catch(e){this.failure=e.message}}send(e,t){this.dispatchEvent(new CustomEvent(e,{detail:t,bubbles:!0,composed:!0}))}go(e){let t=new CustomEvent("gemu-step",{detail:{step:e},bubbles:!0,composed:!0,cancelable:!0});this.dispatchEvent(t)&&(this.step=e)}},Sn=new Map;function Fi(r){let s=Sn.get(r);return s||(s=fetch(r).then(async e=>{if(!e.ok)throw new Error(`${r}: ${e.status} ${e.statusText}`);return Ke(new Le(new Uint8Array(await e.arrayBuffer())))}),Sn.set(r,s)),s}var ls=8,ie=K`
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
--idle: light-dark(#dfe2e6, #39424d);
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
`,he=r=>`--hue: var(--b${(r<0?0:r)%ls})`,oe=(r,s,e)=>Math.max(s,Math.min(e,r)),me=(r,s,e=s+"s")=>`${r.toLocaleString("en")} ${r===1?s:e}`;var Tn=40,cs=class extends ne{constructor(){super(...arguments);this.hideNext=!1;this.drawings=new Map}static{this.properties={hideNext:{attribute:!1}}}static{this.styles=[ie,K`
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
`]}render(){let e=this.model;if(!e)return g;let t=(e.instructionAt(Math.min(this.step,e.steps-1))??e.launch.instructions[0])?.function,n=e.launch.blocks.filter(p=>p.function===t);if(n.length>Tn)return f`<p>${t} has ${n.length} basic blocks; a graph of more than ${Tn} is not drawn. The arcs beside the program show its branches.</p>`;let i=`${e.launch.row} ${e.launch.policy} ${t}`,o=this.drawings.get(i);o||this.drawings.set(i,o=Js(n));let a=e.state(this.step),c=new Map;for(let p of a.groups){if(p.instruction<0)continue;let d=e.launch.instructions[p.instruction].block,w=c.get(d)??{runs:q,waits:q};p.reason==="runs"||p.reason==="masked"?w.runs=Z(w.runs,p.lanes):w.waits=Z(w.waits,p.lanes),c.set(d,w)}let l=this.hideNext||a.end?[]:e.outcome(this.step).groups.map(p=>p.instruction<0?-1:e.launch.instructions[p.instruction].block),h=a.end?-1:e.launch.instructions[a.instruction].block,u=o.boxes.filter(p=>c.has(p.block)).map(p=>`block ${e.launch.blocks[p.block].letter}: ${rt(c.get(p.block).runs,c.get(p.block).waits,e.lanes)}`).join("; ");return f`<div class="scroll" tabindex="0" role="region" aria-label="Control-flow graph">
<svg viewBox="0 0 ${o.width} ${o.height}" width=${o.width} height=${o.height} role="img" aria-label="Control-flow graph of ${t}. ${u}">
<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5L8 4L0 7.5z" fill="context-stroke"/></marker></defs>
${o.edges.map(p=>J`<path class="edge ${p.from===h&&l.includes(p.to)?"taken":""}" d=${p.path} marker-end="url(#tip)"/>`)}
        ${o.boxes.map(p=>this.box(e.launch.blocks[p.block],p.x-132/2,p.y,c.get(p.block)))}
      </svg>
    </div>`}box(e,t,n,i){let o=this.model,[a,c]=[o.launch.instructions[e.first].line,o.launch.instructions[e.first+e.instructions-1].line],l=i?[C(i.runs)?"":`${_(i.runs)} run`,C(i.waits)?"":`${_(i.waits)} wait`].filter(Boolean).join(", "):"";return J`<g class="${i?"here":""} ${i&&!C(i.runs)?"runs":""}" style=${he(e.index)}>
<title>${e.letter}${e.labels.length?`, ${e.labels.join(", ")}`:""}: lines ${a} to ${c}${i?`. ${rt(i.runs,i.waits,o.lanes)}`:""}</title>
      <rect class="box" x=${t} y=${n} width=${132} height=${44} rx="7"/>
      <rect class="tag" x=${t+7} y=${n+8} width="24" height="28" rx="5"/><text class="tag-text" x=${t+19} y=${n+27}>${e.letter}</text>
      <text x=${t+40} y=${n+19}>${e.labels[0]&&e.labels[0]!==e.letter?e.labels[0].slice(0,13):a===c?`line ${a}`:`lines ${a}–${c}`}</text>
      <text class="lanes" x=${t+40} y=${n+34}>${l}</text>
    </g>`}};customElements.define("gemu-flow",cs);var Pe=32n,hs=32,us=4096;function Cn(r){let s=new Set(Y(r.lanes).map(e=>r.addresses[e])).size;return Math.min(s*r.bytes,r.sectors*Number(Pe))}var zn=(r,s)=>`${Number((r/s*100).toFixed(1))} %`,ps=class extends ne{constructor(){super(...arguments);this.until=1/0;this.width=960;this.observer=new ResizeObserver(()=>this.width=Math.max(300,this.clientWidth-32))}static{this.properties={until:{attribute:!1},width:{state:!0}}}connectedCallback(){super.connectedCallback(),this.observer.observe(this)}disconnectedCallback(){super.disconnectedCallback(),this.observer.disconnect()}static{this.styles=[ie,K`
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
}
table {
font-size: 13.5px;
}
th,
td {
padding: 3px 22px 3px 0;
white-space: nowrap;
}
.number {
text-align: right;
}
tr.now td {
background: var(--now);
}
td button {
min-height: 26px;
padding: 0 8px;
font-size: 13px;
}
text {
font: 11px var(--mono);
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
@media (max-width: 560px) {
th,
td {
padding-right: 10px;
}
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
`]}sentence(e){let t=this.model,n={load:"load",store:"store",atomic:"change",zero:"clear"}[e.kind],i=Y(e.lanes).length,o=`${se(G(e.lanes,t.lanes,n,n+"s"))} ${me(e.bytes,"byte")}${i===1?"":" each"} ${e.kind==="load"?"from":"in"} ${e.space} memory${e.allocation?.name?` (${e.allocation.name})`:""}.`;return e.space==="shared"?`${o} ${e.passes<=1?"One pass through the banks: no conflict.":`${e.passes} passes through the banks, because lanes need ${e.passes} different words of one bank.`}`:e.sectors>0?`${o} ${me(e.sectors,"sector")} of 32 bytes; ${zn(Cn(e),e.sectors*32)} of the transferred bytes are used.`:`${o}${e.passes>1?` ${e.passes} passes.`:""}`}sectors(e){let t=this.model,{width:n}=this,i=Y(e.lanes),o=new Set;for(let m of i)for(let y=e.addresses[m]/Pe;y*Pe<e.addresses[m]+BigInt(Math.max(e.bytes,1));y++)o.add(y);let a=[...o].sort((m,y)=>m<y?-1:1);if(a.length>128)return g;let c=a.map((m,y)=>y>0&&m!==a[y-1]+1n?1:0),l=c.reduce((m,y)=>m+y,0),h=Math.min(6,n/4/Math.max(1,l)),u=Math.min(112,(n-20-l*h)/a.length),p=u*a.length+l*h,d=(n-p)/2,w=a.map((m,y)=>d+=c[y]*h+(y>0?u:0)),k=new Map(a.map((m,y)=>[m,y])),b=m=>14+(m+.5)*(n-28)/t.launch.warpSize,M=m=>{let y=k.get(m/Pe);return w[y]+Number(m%Pe)/32*(u-2)},E=m=>u>=82||m===0,$=Math.ceil(17/((n-28)/t.launch.warpSize));return f`<div class="scroll" tabindex="0" role="region" aria-label="Lanes and sectors"><svg width=${n} height="150" role="img" aria-label="Arcs from ${i.length} lanes to ${a.length} sectors">
${i.map(m=>{let[y,S]=[b(m),M(e.addresses[m])+Math.min(e.bytes,32)/64*(u-2)];return J`<path class="arc" d="M${y} 26C${y} 70 ${S} 62 ${S} 104"/><circle class="dot" cx=${y} cy="22" r=${$>1?3:4.5}/>${m%$===0?J`<text x=${y} y="11">${m}</text>`:g}`})}
      ${a.map((m,y)=>J`<rect class="sector" x=${w[y]} y="106" width=${Math.max(u-2,1)} height="20" rx="2"/>${E(y)?J`<text x=${u>=82?w[y]+u/2:Math.max(w[y]+36,40)} y="142">${"0x"+(m*Pe).toString(16)}</text>`:g}`)}
      ${[...new Set(i.map(m=>e.addresses[m]))].map(m=>J`<rect class="used" x=${M(m)+.5} y="110" width=${Math.max(Math.min(e.bytes,32)/32*(u-2)-1,.8)} height="12"/>`)}
    </svg></div>`}comb(e){let{width:t}=this,n=Y(e.lanes),i=Array.from({length:hs},()=>new Map);for(let u of n){let p=e.addresses[u]/4n;for(let d=0n;d<BigInt(Math.max(1,Math.ceil(e.bytes/4)));d++){let w=i[Number((p+d)%BigInt(hs))];w.set(p+d,[...w.get(p+d)??[],u])}}let o=Math.max(1,...i.map(u=>u.size)),a=o>16?6:14,c=(t-4)/hs,[l,h]=c<17?[1,4]:[2,1];return f`<div class="scroll" tabindex="0" role="region" aria-label="Banks of shared memory"><svg width=${t} height=${o*a+28} role="img" aria-label="Words that the lanes need in each of 32 banks; at most ${o} in one bank">
${i.map((u,p)=>J`${p%h===0?J`<text x=${2+(p+.5)*c} y="12">${p}</text>`:g}<rect class="bank" x=${2+p*c+l} y="18" width=${c-2*l} height=${o*a+2} rx="3"/>${[...u.values()].map((d,w)=>J`<rect class="word ${w>0?"more":""}" x=${2+p*c+2*l} y=${19+w*a} width=${c-4*l} height=${a-2} rx="2"><title>bank ${p}: ${d.length===1?"lane":"lanes"} ${d.join(", ")}</title></rect>`)}`)}
    </svg></div><p class="soft">Each column is a bank, each block a word that lanes need. A second block in a column costs a second pass.</p>`}sum(e){if(this.sums?.model===e&&this.sums.until===this.until)return this.sums.list;let t=new Map;for(let i=0;i<Math.min(e.steps,this.until,us);i++)for(let o of e.accesses(i)){if(o.space==="param")continue;let{index:a}=e.instructionAt(i),c=`${a} ${o.space}`,l=t.get(c);l||t.set(c,l={instruction:a,space:o.space,steps:[],sectors:0,used:0,moved:0,passes:0}),l.steps.at(-1)!==i&&l.steps.push(i),l.sectors+=o.sectors,l.moved+=o.sectors*Number(Pe),l.used+=Cn(o),l.passes+=o.passes}let n=[...t.values()].sort((i,o)=>i.instruction-o.instruction);return this.sums={model:e,until:this.until,list:n},n}table(e){let t=this.sum(e);if(t.length===0)return g;let n=(o,a)=>a?Number((a/o.steps.length).toFixed(1)):"–",i=o=>o.steps.find(a=>a>this.step)??o.steps[0];return f`<div class="card"><p>The accesses of this warp, by instruction${e.steps>us?` (steps 1 to ${us.toLocaleString("en")})`:""}${t.some(o=>o.steps.length>1)?"; sectors and passes are means":""}:</p>
      <div class="scroll" tabindex="0" role="region" aria-label="Accesses by instruction"><table>
        <thead><tr><th scope="col">line</th><th scope="col">memory</th><th scope="col" class="number">sectors</th><th scope="col" class="number">bytes used</th><th scope="col" class="number">passes</th><th scope="col" class="number">times</th><th scope="col">instruction</th></tr></thead>
        <tbody>${t.map(o=>{let a=e.launch.instructions[o.instruction];return f`<tr class=${o.steps.includes(this.step)?"now":""}>
<td><button aria-label="Go to line ${a.line}" @click=${()=>this.go(i(o))}>${a.line}</button></td><td>${o.space}</td>
<td class="number">${n(o,o.sectors)}</td><td class="number">${o.moved?zn(o.used,o.moved):"–"}</td><td class="number">${o.space==="shared"?n(o,o.passes):"–"}</td>
<td class="number">${o.steps.length}</td><td class="mono">${a.text}</td>
</tr>`})}</tbody>
      </table></div></div>`}jump(e){return()=>{let t=this.model;for(let n=this.step+e;n>=0&&n<t.steps;n+=e)if(t.accesses(n).some(i=>i.space!=="param"))return this.go(n);this.send("gemu-hover",{text:`No ${e>0?"later":"earlier"} step accesses memory.`})}}render(){let e=this.model;if(!e)return g;if(!e.launch.has.accesses)return f`<p>The recording has no accesses. Record with --with accesses.</p>`;let t=e.accesses(this.step);return f`<p class="where"><button @click=${this.jump(-1)}>← access before</button><button @click=${this.jump(1)}>next access →</button>${t.length===0?f`<span class="soft">This step does not access memory.</span>`:g}</p>
      ${t.slice(0,8).map(n=>f`<div class="card"><p>${this.sentence(n)}</p>${n.space==="shared"?this.comb(n):n.sectors>0?this.sectors(n):g}</div>`)}
      ${this.table(e)}`}};customElements.define("gemu-memory",ps);function Rn(r){if(r.length<4)throw new Error("the answer of the engine is empty");let s=new DataView(r.buffer,r.byteOffset).getUint32(0,!0);if(s>r.length-4)throw new Error("the answer of the engine is cut off");return{response:JSON.parse(new TextDecoder().decode(r.subarray(4,4+s))),recording:r.slice(4+s)}}var ds=class{async run(s,e){let t=await fetch("run",{method:"POST",headers:{"Content-Type":"application/json"},body:JSON.stringify(s),signal:e});if(!t.ok)throw new Error(`gemu play answers ${t.status}: ${(await t.text()).trim()||t.statusText}`);return Rn(new Uint8Array(await t.arrayBuffer()))}async examples(){let s=await fetch("examples.json");return s.ok?await s.json():[]}},fs=class{constructor(){this.id=0}start(){return this.worker??=new Promise((s,e)=>{let t=globalThis.gemuWorker,n=t?t():new Worker("engine.js"),i=a=>{n.terminate(),this.worker=void 0,e(new Error(a))},o=a=>{a.data.type==="failed"&&i(a.data.message),a.data.type==="ready"&&(n.removeEventListener("message",o),this.policies=a.data.policies,s(n))};n.addEventListener("message",o),n.addEventListener("error",a=>i(a.message||"the engine does not start: this browser may lack WebAssembly"))}),this.worker}async ask(s,e,t){let n=await this.start();return t?.throwIfAborted(),new Promise((i,o)=>{let a=()=>{n.removeEventListener("message",c),n.removeEventListener("error",h),t?.removeEventListener("abort",u)},c=p=>{p.data.type==="failed"&&l(new Error(p.data.message)),e(p.data)&&(a(),i(p.data))},l=p=>{a(),n.terminate(),this.worker=void 0,o(p)},h=p=>l(new Error(`the engine has failed: ${p.message}`)),u=()=>l(t.reason);n.addEventListener("message",c),n.addEventListener("error",h),t?.addEventListener("abort",u),n.postMessage(s)})}async run(s,e){let t=++this.id,n=await this.ask({type:"run",id:t,request:s},i=>i.type==="response"&&i.id===t,e);return Rn(new Uint8Array(n.bytes))}async examples(){return(await this.ask({type:"examples"},s=>s.type==="examples")).examples}};function In(r){if(r==="http")return new ds;if(r==="wasm")return new fs}var Vi=/`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|!\[[^\]]*\]\([^)]*\)|\[([^\]]+)\]\([^)]*\)/g;function we(r){let s=[],e=0;for(let t of r.matchAll(Vi))t.index>e&&s.push(r.slice(e,t.index)),t[1]?s.push(f`<code>${t[1]}</code>`):t[2]?s.push(f`<b>${we(t[2])}</b>`):t[3]?s.push(f`<em>${we(t[3])}</em>`):t[4]&&s.push(...we(t[4])),e=t.index+t[0].length;return e<r.length&&s.push(r.slice(e)),s}function ms(r){let s=[];for(let[e,t]of r.split(/^```.*$/m).entries()){if(e%2===1){s.push(f`<pre tabindex="0" aria-label="Code">${t.replace(/^\n|\n$/g,"")}</pre>`);continue}for(let n of t.split(/\n\s*\n/)){let i=n.trim();if(!i||/^!\[[^\]]*\]\([^)]*\)$/.test(i)||i.startsWith("<!--"))continue;let o=/^(#+)\s+(.*)$/.exec(i);if(o)o[1].length>1&&s.push(f`<h2>${we(o[2])}</h2>`);else if(i.startsWith("|")){let c=i.split(`
`).filter(l=>!/^\|[\s|:-]+\|$/.test(l)).map(l=>l.replace(/^\||\|$/g,"").split("|").map(h=>h.trim()));s.push(f`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><tbody>${c.map((l,h)=>f`<tr>${l.map(u=>h?f`<td>${we(u)}</td>`:f`<th scope="col">${we(u)}</th>`)}</tr>`)}</tbody></table></div>`)}else/^([-*]|\d+\.)\s/.test(i)?s.push(f`<ul>${i.split(/\n(?=(?:[-*]|\d+\.)\s)/).map(a=>f`<li>${we(a.replace(/^([-*]|\d+\.)\s+/,"").replace(/\n\s*/g," "))}</li>`)}</ul>`):s.push(f`<p>${we(i.replace(/\n\s*/g," "))}</p>`)}}return s}var Tt="#v1:",gs=4<<20;function Pn(r){let s=new TextEncoder().encode(JSON.stringify(r));if(s.length>gs)throw new Error(`A link can hold a program of at most ${gs>>20} MiB, with its source files: send the files instead.`);let e=dn(s,{level:9}),t="";for(let n of e)t+=String.fromCharCode(n);return Tt+btoa(t).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")}function vs(r){if(!r.startsWith("#v"))return;if(!r.startsWith(Tt))throw new Error("the link was made by another version of the page: this page reads links that begin with "+Tt);let s;try{let e=atob(r.slice(Tt.length).replaceAll("-","+").replaceAll("_","/")),t=Uint8Array.from(e,i=>i.charCodeAt(0)),n=Mt(t,{out:new Uint8Array(Math.min(gs,t.length*1032+1))});s=JSON.parse(new TextDecoder("utf-8",{fatal:!0}).decode(n))}catch{throw new Error("the link is damaged: a part of it may be missing. Copy it again")}return bs(s)}function bs(r){let s=r,e=u=>typeof u=="number"&&Number.isSafeInteger(Math.floor(u))&&u>=0?Math.floor(u):void 0,t=u=>typeof u=="boolean"?u:void 0,n=u=>typeof u=="string"?u:"",i=u=>Array.isArray(u)?u.map(n):[],o=u=>{let[p,d,w]=Array.isArray(u)?u.map(e):[];return[p??1,d??1,w??1]},a=s?.request;if(typeof a!="object"||a===null||typeof a.source!="string")throw new Error("the link holds no program");let[c,l]=[e(s.view?.from),e(s.view?.to)],h={name:n(a.name)||"kernel.ptx",source:a.source,kernel:n(a.kernel),grid:o(a.grid),block:o(a.block),arguments:i(a.arguments),policy:n(a.policy)||void 0,warp:e(a.warp),sm:n(a.sm)||void 0,maxEvents:e(a.maxEvents),maxSteps:e(a.maxSteps),memory:t(a.memory),shared:e(a.shared),cluster:a.cluster&&o(a.cluster),cooperative:t(a.cooperative),seed:e(a.seed),set:a.set&&i(a.set),files:a.files&&Object.fromEntries(Object.entries(a.files).filter(([,u])=>typeof u=="string"))};return{request:Object.fromEntries(Object.entries(h).filter(([,u])=>u!==void 0)),policies:i(s.policies).filter(Boolean).slice(0,8),policy:n(s.policy)||void 0,step:e(s.step),cta:e(s.cta),warp:e(s.warp),lane:e(s.lane),register:n(s.register)||void 0,hex:t(s.hex),pane:n(s.pane)||void 0,view:c!==void 0&&l!==void 0&&l>c?{from:c,to:l}:void 0,predict:s.predict===!0}}var Wn=[1,2,4,8,16,32,64];function ws(r){let s=r.trim()?r.trim().split(/\s*[,x×]\s*|\s+/):["0","0","0"],e=s.map(t=>/^\d{1,10}$/.test(t)?Number(t):NaN);if(s.length>3||r.trim()&&e.some(t=>!(t>=1&&t<2**31)))throw new Error(`"${r.trim()}": want one to three numbers from 1 on, such as 32 or 8,4`);return[e[0],e[1]??1,e[2]??1]}function Un(r,s){let e=r.trim(),t=e===""?0:/^\d{1,16}$/.test(e)?Number(e):NaN;if(!(t<=s))throw new Error(`"${e}": want a whole number from 0 to ${s.toLocaleString("en")}`);return t}function Hn(r){let s={},e=(o,a,c)=>{try{return c()}catch(l){return s[o]=l.message,a}},t=[0,0,0],n=e("cluster",t,()=>ws(r.cluster));return{launch:{grid:e("grid",t,()=>ws(r.grid)),block:e("block",t,()=>ws(r.block)),cluster:n[0]?n:void 0,shared:e("shared",0,()=>Un(r.shared,2**31-1))||void 0,seed:e("seed",0,()=>Un(r.seed,Number.MAX_SAFE_INTEGER))||void 0,cooperative:r.cooperative||void 0},faults:s}}function xs(r,s){let e=r.find(o=>o.name===s);if(e)return e.doc;let[t,n]=s.split(":"),i=r.find(o=>o.name===t)?.doc;return i&&n?`${i}, with time slices of exactly ${n} instructions`:""}function Bn(r,s,e){return e===void 0?r:r.filter(t=>t===e||s.some(n=>n.label===t&&n.busy))}var Nn=K`
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
flex: 1 1 12em;
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
margin-right: 5px;
vertical-align: -1px;
}
.key .filled {
background: var(--b0);
}
.key .idle {
background: var(--idle);
}
.key .dots {
height: 6px;
vertical-align: 3px;
border-bottom: 1px dotted var(--edge);
}
.key .hatched {
background: repeating-linear-gradient(135deg, transparent 0 3px, var(--ink) 3px 4px);
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
dialog pre {
max-height: 60vh;
margin: 0 0 12px;
overflow: auto;
font: 12px/1.5 var(--mono);
white-space: pre-wrap;
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
`;var Gi=[["registers","Registers"],["memory","Memory"],["flow","Control flow"],["results","Results"]],ys=matchMedia("(max-width: 900px)"),Ki=2e5,Zi=500,$s=class extends ve{constructor(){super(...arguments);this.src="";this.runs=[];this.main=0;this.step=0;this.warpIndex=0;this.lane=-1;this.register="";this.hex=!1;this.narrow=!1;this.pane="registers";this.predict=!1;this.revealed=1/0;this.picked=q;this.hover="";this.lines=new Set;this.playing=!1;this.editing=!1;this.examples=[];this.message="";this.marks=[];this.faults={};this.link="";this.policies=["stack"];this.known=[];this.dropping=!1;this.help=!1;this.licenses="";this.timer=0;this.zoomed=!1;this.onNarrow=()=>{this.narrow=ys.matches};this.onHash=()=>{try{let e=vs(location.hash);e&&this.engine&&this.openPlace(e)}catch(e){this.message=e.message}};this.rememberTimer=0;this.onStep=e=>{e.preventDefault(),this.pause(),this.go(e.detail.step)};this.onZoom=e=>{e.preventDefault();let t=e.detail.view;this.view=t??{from:0,to:this.longest+1},this.zoomed=!!t};this.hoverTimer=0;this.onHover=e=>{clearTimeout(this.hoverTimer);let t=e.detail.text;t?this.hover=t:this.hoverTimer=window.setTimeout(()=>this.hover="",300)};this.onKey=e=>{if(e.key==="Escape"&&this.help&&(this.help=!1),e.ctrlKey||e.metaKey||e.altKey)return;let t=e.composedPath(),n=t[0]instanceof HTMLInputElement&&t[0].type==="checkbox";if(!n&&t.some(l=>l instanceof HTMLElement&&(/^(INPUT|SELECT|TEXTAREA)$/.test(l.tagName)||l.isContentEditable||l.tagName==="DIALOG"))&&!(t[0]instanceof HTMLInputElement&&t[0].type==="range"&&e.shiftKey))return;let o=t.some(l=>l instanceof HTMLElement&&l.getAttribute("role")==="region"),a=n||t.some(l=>l instanceof HTMLElement&&/^(BUTTON|SUMMARY|A)$/.test(l.tagName)),c={ArrowRight:()=>e.shiftKey?this.turn(1):this.go(this.step+1),ArrowLeft:()=>e.shiftKey?this.turn(-1):this.go(this.step-1),Home:()=>this.go(0),End:()=>this.go(this.last)," ":()=>this.togglePlay()};!c[e.key]||o&&!e.shiftKey||e.key===" "&&a||this.runs.length===0||(e.key!==" "&&this.pause(),c[e.key](),e.preventDefault())};this.onMessage=e=>{let t=e.data;if(e.source!==parent||parent===window||typeof t!="object"||!t||typeof t.gemu!="string")return;({step:()=>this.go(Math.round(Number(t.step))||0),next:()=>this.go(this.step+1),back:()=>this.go(this.step-1),"next-split":()=>this.turn(1),"previous-split":()=>this.turn(-1),state:()=>this.post(this.report()),open:()=>this.openBytes((t.recordings??[]).map(i=>({name:String(i.name),bytes:new Uint8Array(i.bytes)}))),run:()=>{try{let i=bs({request:t.request??this.request,policies:t.policies});i.policies.length&&(this.policies=i.policies),t.request&&(this.example&&([this.example,this.main,this.runs]=[void 0,0,[]]),this.setRequest(i.request))}catch{this.message='The message "run" of the surrounding page holds no program.';return}this.runAll().then(()=>this.post(this.report()))}})[t.gemu]?.()}}static{this.properties={src:{},runs:{state:!0},main:{state:!0},step:{state:!0},warpIndex:{state:!0},lane:{state:!0},register:{state:!0},hex:{state:!0},narrow:{state:!0},view:{state:!0},pane:{state:!0},predict:{state:!0},revealed:{state:!0},picked:{state:!0},verdict:{state:!0},hover:{state:!0},lines:{state:!0},playing:{state:!0},editing:{state:!0},example:{state:!0},examples:{state:!0},message:{state:!0},marks:{state:!0},faults:{state:!0},link:{state:!0},policies:{state:!0},known:{state:!0},request:{state:!0},dropping:{state:!0},help:{state:!0},licenses:{state:!0}}}static{this.styles=[ie,Nn]}connectedCallback(){super.connectedCallback(),this.addEventListener("gemu-step",this.onStep),this.addEventListener("gemu-hover",this.onHover),this.addEventListener("gemu-lines",(t=>this.lines=t.detail.lines)),this.addEventListener("gemu-lane",(t=>this.lane=t.detail.lane)),this.addEventListener("gemu-register",(t=>this.register=this.register===t.detail.name?"":t.detail.name)),this.addEventListener("gemu-hex",(t=>this.hex=t.detail.hex)),this.addEventListener("gemu-zoom",this.onZoom),this.addEventListener("gemu-run-to",(t=>this.runTo(t.detail))),this.addEventListener("gemu-pick",(t=>this.pick(t.detail.lane)));let e=!this.src&&document.getElementById("gemu-start")&&document.querySelectorAll("gemu-player").length===1;this.keys=e?window:this,this.keys.addEventListener("keydown",this.onKey),ys.addEventListener("change",this.onNarrow),this.onNarrow(),addEventListener("message",this.onMessage),addEventListener("hashchange",this.onHash),this.begin()}disconnectedCallback(){super.disconnectedCallback(),this.keys?.removeEventListener("keydown",this.onKey),ys.removeEventListener("change",this.onNarrow),removeEventListener("message",this.onMessage),removeEventListener("hashchange",this.onHash),this.pause(),this.abort?.abort(),this.closeEditor()}async begin(){let e={};try{let t=this.src?"":document.getElementById("gemu-start")?.textContent?.trim()??"";t&&(e=JSON.parse(t))}catch(t){this.message=`The start of the page cannot be read: ${t.message}`}this.engine=In(e.engine),e.policies?.length&&(this.policies=e.policies),this.known=e.knownPolicies??[],e.request&&(e.request.arguments??=[]);try{if(this.src){let a=await fetch(this.src);if(!a.ok)throw new Error(`${this.src}: ${a.status} ${a.statusText}`);this.openBytes([{name:this.src,bytes:new Uint8Array(await a.arrayBuffer())}])}else e.recordings?.length&&this.openBytes(e.recordings.map(a=>({name:a.name,bytes:Uint8Array.from(atob(a.base64),c=>c.charCodeAt(0))})));let t=vs(location.hash);if(t&&!this.engine)throw new Error("This page has no engine: it cannot run the program of the link. Open the link with gemu play.");let n="",i=this.engine?this.engine.examples().catch(a=>(n=`The examples cannot be loaded: ${a.message}`,[])):Promise.resolve([]),o=/^#example=([\w-]+)(?:&step=(\d+))?$/.exec(location.hash);if(t?this.openPlace(t):e.request&&!o&&(this.setRequest({...e.request}),await this.runAll()),this.examples=await i,this.known.length===0&&(this.known=this.engine?.policies??[]),n&&(this.message||=n),!t&&(o||!e.request&&!e.recordings?.length)){let a=this.examples.find(c=>c.id===(o?.[1]??e.example))??this.examples[0];a&&await this.openExample(a),o?.[2]&&a?.id===o[1]&&this.go(Number(o[2])-1)}}catch(t){this.message=t.message}await this.updateComplete,this.setAttribute("ready",""),this.post({gemu:"ready"})}openPlace(e){clearTimeout(this.rememberTimer),this.policies=e.policies,this.setRequest(e.request),this.example=void 0,this.lane=e.lane??-1,this.register=e.register??"",this.hex=e.hex??!1,e.pane&&(this.pane=e.pane),this.firstStep=e,this.runs=[],this.runAll()}async openExample(e){this.example=e,this.policies=e.policies,this.setRequest({...e.request}),this.runs=[],this.firstStep=void 0,[this.main,this.step,this.warpIndex,this.lane,this.register,this.view]=[0,0,0,-1,"",void 0],this.zoomed=!1,this.pane=e.id==="memory"?"memory":"registers",this.remember(),await this.runAll()}openBytes(e){this.abort?.abort(),this.pause();let t=[];for(let n of e){let i;try{i=Ke(new Le(n.bytes))}catch(o){t.push({label:n.name,busy:!1,failure:`${n.name}: ${o.message}`});continue}i.length===0&&t.push({label:n.name,busy:!1,failure:`${n.name}: the recording has no launch`});for(let o of i.slice(0,32)){let a=i.length>1||e.length>1,c=i.length>1?`${o.row}: ${o.kernel}`:a&&e.filter(l=>l!==n).length&&t.some(l=>l.label===o.policy)?n.name:o.policy||n.name;t.push({label:c,launch:o,busy:!1,failure:""})}}this.example=void 0,this.setRequest(void 0),this.runs=t,this.policies=[],[this.main,this.step,this.lane,this.register,this.view,this.message]=[Math.max(0,t.findIndex(n=>n.launch)),0,-1,"",void 0,t.every(n=>!n.launch)?t.map(n=>n.failure).join(`
`):""],this.message&&(this.runs=[]),this.warpIndex=0,this.zoomed=!1,this.resetView(),this.resetPrediction()}setRequest(e){this.request=e,e&&(this.policies.length===0&&(this.policies=["stack"]),this.editor&&this.editor.text!==e.source&&this.editor.setText(e.source))}async runAll(e){if(!this.engine||!this.request)return;this.abort?.abort(),this.pause();let t=this.abort=new AbortController,n=this.model?.steps?{at:this.model.occurrence(this.step),end:this.step>=this.model.steps,cta:this.model.info.cta,warp:this.model.info.warp}:void 0,i=this.runs;this.message="",this.faults={},this.marks=[],this.editor?.setMarks([]);let o=Bn(this.policies,i,e);this.runs=this.policies.map(l=>(o.includes(l)?void 0:i.find(h=>h.label===l))??{label:l,launch:i.find(h=>h.label===l)?.launch,busy:!0,failure:""}),this.main=Math.min(this.main,this.runs.length-1);let a=!!e&&!this.firstStep&&!i[this.main]?.busy;for(let l of o){let h;try{let{response:u,recording:p}=await this.engine.run({maxEvents:Ki,memory:!0,...this.request,policy:l},t.signal);h={label:l,response:u,busy:!1,failure:""},p.length&&(h.launch=Ke(new Le(p))[0]),h.launch&&u.status!=="error"&&(h.launch.outcome=u.status),h.launch||(h.failure=u.message||"The run has no recording."),u.status==="error"&&this.refuse(u)}catch(u){if(t.signal.aborted)return;h={label:l,busy:!1,failure:u.message}}if(t.signal.aborted)return;if(this.runs=this.runs.map(u=>u.label===l?h:u),h.launch&&!a&&(l===(this.firstStep?.policy??this.policies[this.main])||l===o.at(-1))&&(a=!0,this.putAt(h,n)),h.response?.place&&h.response.status==="error"){this.runs=this.runs.map(u=>u.busy?{...h,label:u.label}:u);break}}let c=this.runs.find(l=>l.failure);c&&!this.runs.some(l=>l.launch)&&(this.message=c.failure),this.marks.length&&this.message&&(this.message="");for(let l of this.runs)l.busy=!1;this.runs=[...this.runs],this.zoomed||this.resetView()}putAt(e,t){let n=e.launch,i=this.firstStep;if(this.firstStep=void 0,i)this.main=Math.max(0,this.runs.findIndex(o=>o.label===i.policy)),this.warpIndex=Math.max(0,n.findWarp(i.cta??0,i.warp??0)),this.step=oe(i.step??0,0,this.model?.steps??0),this.view=i.view,this.zoomed=!!i.view,this.predict=i.predict??!1;else if(t){this.warpIndex=Math.max(0,n.findWarp(t.cta,t.warp));let o=this.model;if(o){let a=t.end?o.steps:o.find(t.at);this.step=a>=0?a:oe(this.step,0,o.steps)}this.zoomed=!1}else this.step=0;this.zoomed||this.resetView(),this.resetPrediction()}refuse(e){this.editing=!0,e.place&&(this.marks=[{line:e.place.line,column:e.place.column,message:e.message}]),e.field&&(this.faults={[e.field]:e.message}),this.updateComplete.then(()=>{if(this.editor?.setMarks(this.marks),e.field)return this.focusFault();let t=[...this.renderRoot.querySelectorAll(".argument input")];e.place||(t[e.argument??-1]??t.find(n=>!n.value))?.focus()})}get launchedKernel(){let e=this.runs.find(t=>t.response?.kernels?.length)?.response?.kernels??[];return e.find(t=>t.name===this.request?.kernel)??e[0]}missing(){let e=(this.launchedKernel?.parameters??[]).filter((t,n)=>!this.request?.arguments[n]);return e.length===0||!this.runs.some(t=>t.response?.status==="error")?"":`Missing arguments, in the form below: ${e.map(t=>`${t.name}: ${/64$/.test(t.type)?"an array such as u32[32], or u32[32]=iota":`a number of type ${t.type}, such as 32`}`).join("; ")}. Then press Run.`}stopRuns(){this.abort?.abort(),this.runs=this.runs.map(e=>e.busy?{...e,busy:!1,failure:"You have stopped this run."}:e)}get model(){return this.modelOf(this.runs[this.main])}modelOf(e){let t=e?.launch;if(!t?.warps.length)return;let n=this.runs[this.main]?.launch;if(t===n||!n?.warps[this.warpIndex])return t.warp(Math.min(this.warpIndex,t.warps.length-1));let{cta:i,warp:o}=n.warps[this.warpIndex],a=t.findWarp(i,o);return a<0?void 0:t.warp(a)}get asking(){return this.predict&&this.step===this.revealed&&!!this.model?.asksAt(this.step)}get longest(){return Math.max(0,...this.runs.map(e=>this.modelOf(e)?.steps??0))}resetView(){let e=this.runs.map(a=>this.modelOf(a)).filter(a=>a!==void 0),t=Math.max(0,...e.map(a=>a.steps)),n=e.filter(a=>a.launch.outcome==="done").map(a=>a.steps),i=n.length?Math.min(...n):t,o=(n.length&&e.some(a=>a.launch.outcome!=="done")?Math.max(...n):Math.min(t,Math.max(i*3,80)))+1;this.view={from:0,to:o},this.keepInView()}keepInView(){let e=this.view;if(!e||this.step>=e.from&&this.step<e.to)return;let t=e.to-e.from,n=this.longest+1,i=oe(Math.round(this.step-(this.step<e.from?t*.75:t*.25)),0,Math.max(0,n-t));this.view={from:i,to:i+t}}get last(){return Math.min(this.revealed,this.longest)}go(e){let t=oe(e,0,this.last);t!==this.step&&(this.verdict=void 0),this.predict&&e>this.revealed&&this.updateComplete.then(()=>this.renderRoot.querySelector(".question")?.focus()),this.step=t,this.keepInView(),this.remember(),this.post(this.report())}remember(){if(clearTimeout(this.rememberTimer),!this.example||this.changed||parent!==window)return;let e=`#example=${this.example.id}&step=${this.step+1}`;this.rememberTimer=window.setTimeout(()=>history.replaceState(null,"",e),200)}get changed(){let e=t=>JSON.stringify([t.source,t.kernel||"",t.grid,t.block,t.arguments,t.warp||32,t.shared||0,t.cluster??[0,0,0],!!t.cooperative,t.seed||0]);return!!this.example&&!!this.request&&e(this.example.request)!==e(this.request)}turn(e){let t=this.model;if(!t)return;let n=t.turningPoints(),i=e>0?n.find(o=>o>this.step):n.findLast(o=>o<this.step);this.go(i??(e>0?t.steps:0))}runTo(e){let t=this.model;if(!t)return;let n=t.nextAtLine(this.step,i=>e.source?i.sourceLine===e.line&&i.sourceFile===e.file:i.line===e.line);if(n>=0)return this.go(n);this.hover=`The warp never executes line ${e.line}.`}togglePlay(){if(this.playing||!this.last)return this.pause();this.step>=this.last&&this.go(0),this.playing=!0,this.timer=window.setInterval(()=>{this.step>=this.last?this.pause():this.go(this.step+1)},Zi)}pause(){clearInterval(this.timer),this.playing=!1}nextQuestion(e){let t=this.model;if(!t)return 1/0;for(let n=e;n<t.steps;n++)if(t.asksAt(n))return n;return 1/0}resetPrediction(){this.verdict=void 0,this.picked=q,this.revealed=this.predict?this.nextQuestion(this.step):1/0}setPredict(e){this.predict=e,this.pause(),this.resetPrediction()}pick(e){this.verdict=void 0,this.picked=R(this.picked,e)?W(this.picked,qe([e])):Z(this.picked,qe([e]))}check(){let e=this.model,t=e.active(this.step+1),n=Z(W(t,this.picked),W(this.picked,t));if(pe(t,this.picked)){let a=Ie(e,this.step);this.reveal({right:!0,text:`Right: ${G(t,e.lanes,"run","runs")} next, at line ${e.line(this.step+1)}. ${a.rest.replace(/^[^.]*\.\s*/,"")}`});return}let i=/^@!?(%\w+)/.exec(e.instructionAt(this.step).text)?.[1],o=i?` Look at ${i} of each lane, and which side the policy runs first.`:" Look at the groups of lanes, and for what each waits.";i&&(this.register=i),this.verdict={right:!1,text:`Not yet: ${_(n)===1?"one lane is":`${_(n)} lanes are`} different.${o}`}}reveal(e){this.verdict=e,this.picked=q,this.revealed=this.nextQuestion(this.step+1),this.updateComplete.then(()=>this.renderRoot.querySelector(".verdict")?.focus())}giveUp(){let e=this.model,t=e.active(this.step+1);this.reveal({right:!1,text:`${se(G(t,e.lanes,"run","runs"))} next, at line ${e.line(this.step+1)}.`})}async openFiles(e){let t=[...e].slice(0,8);if(t.length===0)return;let n=await Promise.all(t.map(async o=>({name:o.name,bytes:new Uint8Array(await o.arrayBuffer())}))),i=n.find(o=>/\.(ptx|cu)$/i.test(o.name));i&&this.engine?(this.example=void 0,this.setRequest({name:i.name,source:new TextDecoder().decode(i.bytes),kernel:"",grid:[1,1,1],block:[32,1,1],arguments:[]}),this.runs=[],this.editing=!0,await this.runAll()):this.openBytes(n)}share(){let e=this.model;if(!this.request)return;let t;try{t=Pn({request:this.request,policies:this.policies,policy:this.runs[this.main]?.label,step:this.step,cta:e?.info.cta,warp:e?.info.warp,lane:this.lane>=0?this.lane:void 0,register:this.register||void 0,hex:this.hex||void 0,pane:this.pane,view:this.view,predict:this.predict||void 0})}catch(n){this.message=n.message;return}history.replaceState(null,"",t),this.link=location.href,navigator.clipboard?.writeText(this.link).catch(()=>{}),this.updateComplete.then(()=>{let n=this.renderRoot.querySelector("dialog.link");n?.showModal(),n?.querySelector("input")?.select()})}post(e){parent!==window&&parent.postMessage(e,"*")}report(){let e=this.model;return{gemu:"state",step:this.step,steps:e?.steps??0,line:e?.line(this.step)??0,policy:this.runs[this.main]?.label??"",sentence:e?ot(Ie(e,this.step,this.asking)):"",height:document.documentElement.scrollHeight}}closeEditor(){this.editor?.destroy(),this.editor=void 0}async openEditor(e){if(!(this.editor||e.dataset.loading)){e.dataset.loading="1";try{let t=globalThis.gemuEditor?.()??new URL("./editor.js",import.meta.url).href,{createEditor:n}=await import(t);if(!e.isConnected)return;e.textContent="",this.editor=n({parent:e,root:this.renderRoot,text:this.request?.source??"",label:"Program",run:()=>this.runEdited()}),this.marks.length&&this.editor.setMarks(this.marks)}catch(t){e.textContent=`The editor cannot be loaded: ${t.message}`}delete e.dataset.loading}}runEdited(){let e=this.renderRoot.querySelector("form.launch");if(!e||!this.request)return;let t=new FormData(e),n=a=>String(t.get(a)??""),{launch:i,faults:o}=Hn({grid:n("grid"),block:n("block"),cluster:n("cluster"),shared:n("shared"),seed:n("seed"),cooperative:t.has("cooperative")});if(this.faults=o,Object.keys(o).length){this.focusFault();return}this.setRequest({...this.request,source:this.editor?.text??this.request.source,kernel:n("kernel"),...i,warp:Number(t.get("warp"))||32,arguments:t.getAll("argument").map(a=>String(a).trim()).filter((a,c,l)=>a||c<l.length-1)}),this.runAll()}async focusFault(){await this.updateComplete;let e=this.renderRoot.querySelector("form.launch [aria-invalid=true]");e?.closest("details")?.setAttribute("open",""),e?.focus()}updated(e){let t=this.renderRoot.querySelector(".editor-host");t?this.openEditor(t):this.closeEditor(),(e.has("main")||e.has("warpIndex"))&&this.keepInView();let n=this.model;document.title=n?`${n.launch.kernel} – gemu`:"gemu: see warps run"}header(){let e=this.model?.launch;return f`<header>
<span class="brand" aria-hidden="true">ge<b>mu</b></span>
${this.examples.length?f`<label class="field"><span class="hidden">Example</span><select aria-label="Example" @change=${t=>this.chooseExample(t.target.value)}>
            ${this.example?g:f`<option selected value="">Your program</option>`}
            ${this.examples.map((t,n)=>f`<option value=${t.id} ?selected=${t.id===this.example?.id}>${n+1}. ${t.title}</option>`)}
          </select></label>`:g}
      <h1>${this.example?.title??e?.kernel??"See warps run"}</h1>
      ${e?f`<span class="shape">${this.example?f`kernel <span class="mono">${e.kernel}</span>, `:""}${Ji(e)}${this.argumentsText()}</span>`:g}
      <nav aria-label="Page">
        ${this.engine?f`<button aria-pressed=${this.editing} @click=${()=>this.editing=!this.editing} ?disabled=${!this.request}>Edit</button>`:g}
        <button @click=${()=>this.renderRoot.querySelector("#file").click()}>Open…</button>
        <input id="file" type="file" hidden multiple aria-label="Recordings" @change=${t=>this.openFiles(t.target.files??[])} />
        ${this.engine?f`<button @click=${this.share} ?disabled=${!this.request}>Share</button>`:g}
        <button aria-expanded=${this.help} @click=${()=>this.help=!this.help}>Help</button>
      </nav>
    </header>`}argumentsText(){let e=this.request?.arguments.map((n,i)=>[this.launchedKernel?.parameters[i]?.name,n].filter(Boolean).join(" "))??[],t=e.length?`; ${e.join(", ")}`:"";return t.length>160?`${t.slice(0,160)}…`:t}chooseExample(e){let t=this.examples.find(n=>n.id===e);t&&this.openExample(t)}intro(){let e=this.example;if(!e)return g;let t=e.moment;return f`<section class="intro" aria-label="Example">
<p class="ask"><b>${we(e.question.replace(/\s+/g," ").trim())}</b></p>
${t?f`<button @click=${()=>this.toMoment(t)}>Show the moment</button>`:g}
      ${this.changed?f`<span class="soft">changed <button class="small" @click=${()=>this.openExample(e)}>Restore</button></span>`:g}
      ${e.text?f`<details><summary>Read</summary><div class="prose">${ms(e.text.split(/^## Question$/m)[0])}${e.cuda&&!e.text.includes("```cuda")?f`<pre tabindex="0" aria-label="CUDA C">${e.cuda}</pre>`:g}</div></details>`:g}
      ${e.answer?f`<details><summary>Answer</summary><div class="prose">${ms(e.answer)}</div></details>`:g}
    </section>`}toMoment(e){let t=this.runs.findIndex(n=>n.label===e.policy&&n.launch);t>=0&&(this.main=t),this.warpIndex=Math.max(0,this.runs[this.main]?.launch?.findWarp(0,e.warp??0)??0),this.predict&&this.setPredict(!1),this.go(e.step-1)}transport(){let e=this.model;if(!e)return g;let t=e.steps,n=t===0?"no step was recorded":this.step>=t?`the end, after ${me(t,"step")}`:`step ${(this.step+1).toLocaleString("en")} of ${this.predict&&this.revealed<t?"?":t.toLocaleString("en")}`;return f`<div class="transport" role="toolbar" aria-label="Steps">
<div class="buttons">
<button class="icon" aria-label="To the start" title="To the start (Home)" @click=${()=>this.moved(()=>this.go(0))} ?disabled=${this.step===0}>${Ue("start")}</button>
<button class="icon" aria-label="Previous split" title="Previous split or reconvergence (Shift ←)" @click=${()=>this.moved(()=>this.turn(-1))} ?disabled=${this.step===0}>${Ue("previous")}</button>
<button class="icon" aria-label="Step back" title="Step back (←)" @click=${()=>this.moved(()=>this.go(this.step-1))} ?disabled=${this.step===0}>${Ue("back")}</button>
<button class="icon play" aria-label=${this.playing?"Pause":"Play"} title="Play (space)" @click=${this.togglePlay} ?disabled=${t===0}>${Ue(this.playing?"pause":"play")}</button>
<button class="icon primary" aria-label="Step" title="Step (→)" @click=${()=>this.moved(()=>this.go(this.step+1))} ?disabled=${this.step>=this.last&&!this.asking}>${Ue("forward")}</button>
<button class="icon" aria-label="Next split" title="Next split or reconvergence (Shift →)" @click=${()=>this.moved(()=>this.turn(1))} ?disabled=${this.step>=this.last}>${Ue("next")}</button>
<button class="icon" aria-label="To the end" title="To the end (End)" @click=${()=>this.moved(()=>this.go(this.last))} ?disabled=${this.step>=this.last}>${Ue("end")}</button>
</div>
<input type="range" min="0" max=${Number.isFinite(this.revealed)?Math.min(this.revealed,t):Math.max(t,this.last)} .value=${String(this.step)} aria-label="Step" aria-valuetext=${n} @input=${i=>this.moved(()=>this.go(Number(i.target.value)))} />
<output class="position">${n}</output>
<label class="check"><input type="checkbox" .checked=${this.predict} @change=${i=>this.setPredict(i.target.checked)} /> Predict first</label>
</div>`}moved(e){this.pause(),e()}say(){let e=this.model;if(!e)return g;let t=Ie(e,Math.min(this.step,e.steps),this.asking);return f`<div class="say">
<p class="sentence" role="status" aria-live="polite" aria-atomic="true"><b>${t.head}</b>${t.code?f` <code>${t.code}</code> `:". "}<span>${t.rest}</span></p>
      <p class="hover" aria-hidden="true">${this.hover||f`<span class="faint">Point at a strip, a line or a lane: what it does is explained here.</span>`}</p>
    </div>`}strip(e,t){let n=this.modelOf(e),i=t===this.main,o=this.model;if(!n)return f`<section class="strip" aria-label="Policy ${e.label}"><div class="strip-title"><b class="mono">${e.label}</b> ${e.busy?f`<span class="soft">running…</span>`:f`<span class="bad">${e.launch?"The recording has no events of this warp.":e.failure.split(`
`)[0]}</span>`} ${this.stripTools(e)}</div></section>`;let a=this.runs.filter(h=>h.launch).length,c=n.launch.warpSize,l=c<=8?13:Math.max(3,Math.round((a===1?6:a===2?4.5:3.5)*32/Math.max(c,16)));return f`<section class="strip ${i&&a>1?"chosen":""}" aria-label="Policy ${e.label}">
<gemu-strip .model=${n} .step=${Math.min(this.step,n.steps)} .label=${e.label} .laneHeight=${l} .view=${this.view} .revealed=${this.predict?this.revealed:1/0} .other=${i?void 0:o} .otherLabel=${this.runs[this.main]?.label??""} .lane=${this.lane} .lines=${this.lines}>
${a>1?f`<button slot="title" class="pick" aria-pressed=${i} title="Show the state of this run: ${xs(this.known,e.label)}" @click=${()=>this.choose(t)}>${e.label}</button>`:f`<span slot="title" title=${xs(this.known,e.label)}>${e.label}</span>`}
        <span slot="tools">${e.busy?f`<span class="busy" role="status">running…</span>`:g}${this.stripTools(e)}</span>
      </gemu-strip>
    </section>`}choose(e){let t=this.model?.info;this.main=e;let n=this.runs[e]?.launch;t&&n&&(this.warpIndex=Math.max(0,n.findWarp(t.cta,t.warp))),this.resetPrediction()}stripTools(e){return!this.engine||!this.request?g:f`${e.busy?f`<button class="small" @click=${this.stopRuns}>Stop</button>`:g}${this.policies.length>1?f`<button class="small" aria-label="Remove ${e.label}" title="Remove" @click=${()=>this.removePolicy(e.label)}>✕</button>`:g}`}removePolicy(e){this.policies=this.policies.filter(t=>t!==e),this.runs=this.runs.filter(t=>t.label!==e),this.main=oe(this.main,0,this.runs.length-1),this.resetView(),this.resetPrediction()}addPolicy(e){let t=e.target,n=t.value.trim();t.value="",!(!n||this.policies.includes(n)||this.policies.length>=8)&&(this.policies=[...this.policies,n],this.runAll(n))}timeline(){let e=this.runs.map((t,n)=>this.strip(t,n));return f`<section class="time" aria-label="Time">
<div class="bar"><h2>Every step of every lane</h2>
${this.engine&&this.request?f`<label class="field">add a policy <select @change=${this.addPolicy}><option value="">…</option>${this.known.filter(t=>!this.policies.includes(t.name)).map(t=>f`<option value=${t.name} title=${t.doc}>${t.name}</option>`)}</select></label>
              <label class="field"><span title="its:N is independent thread scheduling: another group of lanes of the warp runs after N instructions">time slice</span> <input class="slice" type="number" min="1" max="4096" placeholder="its:N" @change=${t=>this.addSlice(t)} /></label>`:g}
        <span class="soft hint">drag to zoom</span>
      </div>
      ${e}
      <ul class="key" aria-label="Signs of the strips"><li><i class="filled"></i>runs</li><li><i class="idle"></i>waits</li><li><i class="dots"></i>has ended</li>${this.model&&_(this.model.lanes)<this.model.launch.warpSize?f`<li><i></i>blank: no thread</li>`:g}${this.runs.some(t=>t.launch&&["deadlock","trap"].includes(t.launch.outcome))&&!this.predict?f`<li><i class="hatched"></i>the run fails here</li>`:g}</ul>
    </section>`}addSlice(e){let t=e.target,n=Math.floor(Number(t.value));if(t.value="",n<1)return;let i=`its:${n}`;this.policies.includes(i)||this.policies.length>=8||(this.policies=[...this.policies,i],this.runAll(i))}card(){if(this.message)return f`<section class="card bad-card" role="alert"><h2>${this.runs.length&&!this.model?"The program does not run":"gemu says"}</h2><pre>${this.message}</pre>${this.missing()?f`<p>${this.missing()}</p>`:g}</section>`;let e=this.runs[this.main],t=this.model,n=e?.launch?.trap,i=n&&t&&(n.cta!==t.info.cta||n.warp!==t.info.warp)?e.launch.findWarp(n.cta,n.warp)+1:0;if(!e?.launch||e.launch.outcome==="done"||!t||!i&&this.step<t.steps-1||this.predict&&this.revealed<t.steps)return g;if(e.launch.outcome==="stopped")return f`<section class="card" aria-label="How the run ends"><h2>Stopped</h2><p>${se(lt(e.launch))}. Later steps are not shown.</p></section>`;let o=e.response?.message||e.launch.error,a=/wait at a barrier without/.test(o)&&/^(@\S+ )?(bar\.|barrier\b.*\.aligned)/.test(t.instructionAt(t.steps-1)?.text??"");return f`<section class="card bad-card" aria-label="How the run ends"><h2>${De(e.launch)?"Deadlock":"The kernel has failed"}</h2>${De(e.launch)?f`<p>Lanes wait for something that no lane will ever do. ${a?"A warp arrives at an aligned barrier, such as bar.sync, only when all its lanes execute the same instruction. ":g}gemu says:</p>`:g}<pre tabindex="0" aria-label="Message">${o}</pre>${i?f`<button @click=${()=>(this.chooseWarp(i-1),this.go(this.model.steps))}>Go to CTA ${e.launch.ctaName(n.cta)} warp ${n.warp}</button>`:g}</section>`}question(){let e=this.model;if(!this.asking)return this.verdict?f`<p class="verdict ${this.verdict.right?"good":"no"}" role="status" tabindex="-1">${this.verdict.right?"✓ ":""}${this.verdict.text}</p>`:g;let t=W(e.lanes,e.ended(this.step+1));return f`<div class="question" tabindex="-1" role="group" aria-label="Prediction">
<p><b>Which lanes run next?</b> Press them in the cells below, then check. The future is not drawn yet.</p>
<div class="buttons">
<button @click=${()=>this.pickAll(t)}>All</button><button @click=${()=>this.pickAll(q)}>None</button><button @click=${()=>this.pickAll(W(t,this.picked))}>Invert</button>
<button class="primary" @click=${this.check} ?disabled=${C(this.picked)}>Check</button><button @click=${this.giveUp}>Show me</button>
<span class="soft">${C(this.picked)?"none chosen":X(this.picked,e.lanes)}</span>
</div>
${this.verdict?f`<p class="verdict no" role="status" tabindex="-1">${this.verdict.text}</p>`:g}
    </div>`}pickAll(e){this.verdict=void 0,this.picked=e}warps(){let e=this.runs[this.main]?.launch;if(!e||e.warps.length<2)return g;let t=this.model.eventOf(this.step),n=e.warps.length<=64?e.warps:e.warps.slice(0,64);return f`<details class="warps" open>
<summary>${me(e.warps.length,"warp")} at this moment</summary>
<div class="warp-list" role="group" aria-label="Warps">
${n.map((i,o)=>{let a=e.warp(o),c=o===this.warpIndex?this.step:a.stepAtEvent(t),l=a.instructionAt(Math.min(c,a.steps-1))?.block??-1,h=_(a.active(c)),u=c>=a.steps;return f`<button aria-pressed=${o===this.warpIndex} style=${he(l)} @click=${()=>this.chooseWarp(o)} title="${u?"ended":`${h} of ${_(a.lanes)} lanes at line ${a.line(c)}`}">
            <span class="mono">${e.grid.some(p=>p>1)?e.ctaName(i.cta)+" ":""}w${i.warp}</span>
            ${_(a.lanes)<e.warpSize?f`<span class="soft">${me(_(a.lanes),"lane")},</span>`:g}${this.predict?g:f`<span class="soft">${u?me(a.steps,"step"):`step ${c+1} of ${a.steps}`}</span>`}${e.trap?.cta===i.cta&&e.trap.warp===i.warp?f`<span class="bad">✕<span class="hidden"> failed</span></span>`:g}
            ${u?f`<span class="soft">end</span>`:f`<span class="letter">${e.blocks[l]?.letter??""}</span><span class="meter" aria-hidden="true"><i style="width:${h/e.warpSize*100}%"></i></span>`}
          </button>`})}
        ${e.warps.length>n.length?f`<label class="field">another <select @change=${i=>this.chooseWarp(Number(i.target.value))}>${e.warps.slice(0,4096).map((i,o)=>f`<option value=${o} ?selected=${o===this.warpIndex}>CTA ${e.ctaName(i.cta)} warp ${i.warp}</option>`)}</select></label>`:g}
      </div>
    </details>`}chooseWarp(e){let t=this.model.eventOf(this.step);this.warpIndex=e,this.step=this.model.stepAtEvent(t),this.keepInView(),this.resetPrediction()}results(){let e=this.runs[this.main]?.response?.outputs??[];return e.length===0?f`<p class="soft">${this.request?"The run has no results.":"A recording has no results of buffers; see the registers at the stores."}</p>`:e.map(t=>f`<h3 class="mono">${t.name??`argument ${t.argument}`} <span class="soft">${t.type}[${t.length}], at the end</span></h3>
        <div class="scroll" tabindex="0" role="region" aria-label="Values of ${t.name??`argument ${t.argument}`}"><ol class="values">${t.values.map((n,i)=>f`<li><span class="soft">${i}</span>${n}</li>`)}</ol></div>`)}panes(){let e=this.model,t=Math.min(this.step,e.steps),n=Gi.filter(([a])=>a!=="results"||(this.runs[this.main]?.response?.outputs?.length??0)>0),i=n.some(([a])=>a===this.pane)?this.pane:"registers",o=this.asking;return f`<section class="panes" aria-label="State">
<div class="tabs" role="tablist" aria-label="Views" @keydown=${a=>this.tabKey(a,n.map(([c])=>c),i)}>
${n.map(([a,c])=>f`<button role="tab" id="tab-${a}" aria-selected=${i===a} aria-controls="pane" tabindex=${i===a?0:-1} @click=${()=>this.pane=a}>${c}</button>`)}
      </div>
      <div id="pane" role="tabpanel" aria-labelledby="tab-${i}">
        ${i==="registers"?f`<gemu-registers .model=${e} .step=${t} .hex=${this.hex} .register=${this.register} .lane=${this.lane}></gemu-registers>`:g}
        ${i==="memory"?f`<gemu-memory .model=${e} .step=${t} .until=${this.predict?Math.min(this.revealed,e.steps)+1:1/0}></gemu-memory>`:g}
        ${i==="flow"?f`<gemu-flow .model=${e} .step=${t} .hideNext=${o}></gemu-flow>`:g}
        ${i==="results"?this.results():g}
      </div>
    </section>`}tabKey(e,t,n){let i=e.key==="ArrowRight"?1:e.key==="ArrowLeft"?-1:0;!i||e.shiftKey||(e.preventDefault(),e.stopPropagation(),this.pane=t[(t.indexOf(n)+i+t.length)%t.length],this.updateComplete.then(()=>this.renderRoot.querySelector(`#tab-${this.pane}`)?.focus()))}field(e,t,n,i=""){let o=this.faults[e];return f`<span class="one"><label>${t} <input name=${e} size="7" .value=${n} placeholder=${i} spellcheck="false" autocomplete="off" aria-invalid=${o?"true":"false"} aria-describedby=${o?`fault-${e}`:g} /></label>${this.fault(e)}</span>`}fault(e){return this.faults[e]?f`<span class="fault bad" id="fault-${e}" role="alert">${this.faults[e]}</span>`:g}form(){let e=this.request,t=this.runs.find(a=>a.response?.kernels?.length)?.response?.kernels??[],n=this.launchedKernel,i=Math.max(n?.parameters.length??0,e.arguments.length,1),o=this.runs.find(a=>a.response?.argument!==void 0)?.response;return f`<section class="edit" aria-label="Program and launch">
<div class="bar"><h2>${e.name}</h2><span class="soft">Ctrl+Enter runs; the place stays</span></div>
<div class="editor-host" style="height:min(52vh,520px)"><p class="soft">The editor is loading…</p></div>
<form class="launch" novalidate @submit=${a=>(a.preventDefault(),this.runEdited())}>
${t.length>1?f`<label>kernel <select name="kernel">${t.map(a=>f`<option ?selected=${a.name===(e.kernel||n?.name)}>${a.name}</option>`)}</select></label>`:f`<input type="hidden" name="kernel" .value=${e.kernel??""} />`}
        ${this.field("grid","grid",e.grid.map(a=>a||1).join(","))}
        ${this.field("block","block",e.block.some(a=>a)?e.block.join(","):n?.block?"":"32",n?.block?.join(",")??"")}
        <label>lanes of a warp <select name="warp" aria-invalid=${this.faults.warp?"true":"false"}>${Wn.map(a=>f`<option ?selected=${a===(e.warp||32)}>${a}</option>`)}</select></label>
        ${Array.from({length:i},(a,c)=>{let l=n?.parameters[c],h=o?.argument===c;return f`<label class="argument">${l?f`<span class="mono">${l.name}</span> <span class="soft">${l.type}</span>`:`argument ${c}`} <input name="argument" list="arguments" .value=${e.arguments[c]??""} aria-invalid=${h?"true":"false"} spellcheck="false" autocomplete="off" /></label>`})}
        <datalist id="arguments">${["u32[32]","u32[32]=iota","f32[64]=1","f32[1024]=iota","s32[32]=-1","32","2.0"].map(a=>f`<option value=${a}></option>`)}</datalist>
        <details class="more" ?open=${!!(e.cluster||e.shared||e.seed||e.cooperative)}>
          <summary>Shared memory, clusters, schedule</summary>
          <div class="launch">
            ${this.field("shared","shared memory of a block, in bytes",e.shared?String(e.shared):"","0")}
            ${this.field("cluster","blocks of a cluster",e.cluster?.join(",")??"","none")}
            ${this.field("seed","seed of the schedule",e.seed?String(e.seed):"","0")}
            <label class="check"><input type="checkbox" name="cooperative" .checked=${!!e.cooperative} aria-invalid=${this.faults.cooperative?"true":"false"} aria-describedby=${this.faults.cooperative?"fault-cooperative":g} /> cooperative: all blocks run at the same time</label>${this.fault("cooperative")}
          </div>
        </details>
        <button class="primary" type="submit">Run</button>
        ${this.runs.some(a=>a.busy)?f`<button type="button" @click=${this.stopRuns}>Stop</button>`:g}
      </form>
    </section>`}helpText(){return this.help?f`<section class="card help" aria-label="Help"><div>
<h2>What the pictures show</h2>
<p>A <b>warp</b> is 32 threads, its <b>lanes</b>, that execute an instruction together. In a strip each row is a lane and each column a step. A <b>filled</b> cell executes; a <b>pale</b> cell waits; a <b>dotted</b> line is a lane that has ended. Colour and letter name the basic block of the program: a block is lines that are executed from the first to the last.</p>
<p>Each strip is the same kernel under another <b>policy</b>: the rule that decides which lanes run next. The playhead is at the same step in all of them. Press the name of a policy to see its state. <b>Steps wasted</b> are those that the same work would save if all lanes ran in every step.</p>
${this.known.length?f`<dl>${this.known.map(e=>f`<dt>${e.name}</dt><dd>${e.doc}</dd>`)}<dt>its:N</dt><dd>its, with turns of N instructions</dd></dl>`:g}
      <p>The <b>reconvergence stack</b> has the groups of lanes of a warp that has split, called <b>warp splits</b>, and the points at which they wait for each other, the innermost first: one group is <b>running</b>, a <b>waiting</b> one runs later, a <b>blocked</b> one waits at a barrier, and a <b>point</b> lists the lanes that have arrived. <b>CTA</b> is the word of PTX for a block of threads.</p></div><div>
      <h2>Keys</h2>
      <dl><dt>→ ←</dt><dd>step, step back</dd><dt>Shift → ←</dt><dd>next, previous split or reconvergence</dd><dt>Home End</dt><dd>start, end</dd><dt>Space</dt><dd>play, pause</dd><dt>+ − 0</dt><dd>in a strip: zoom in, out, all steps</dd><dt>↑ ↓</dt><dd>in the lines, the registers, the lanes: the next, the previous</dd></dl>
      <p>Press a line number to run to the line. Press a lane to follow it. Press a register to see its values in the cells. Drop a recording of <code>gemu record FILE --with all</code> anywhere to open it.</p>
      <p><button class="small" @click=${this.showLicenses}>Licenses of the libraries</button></p></div>
    </section>`:g}async showLicenses(){try{this.licenses=document.getElementById("gemu-licenses")?.textContent??await(await fetch(new URL("./licenses.txt",import.meta.url))).text()}catch(e){this.licenses=`licenses.txt, beside the page, cannot be read: ${e.message}`}await this.updateComplete,this.renderRoot.querySelector("dialog.licenses")?.showModal()}render(){let e=this.model,t=e?Math.min(this.step,e.steps):0;return f`<div
class="page ${this.dropping?"dropping":""}"
@dragover=${n=>(n.preventDefault(),this.dropping=!0)}
@dragleave=${n=>n.relatedTarget===null&&(this.dropping=!1)}
@drop=${n=>(n.preventDefault(),this.dropping=!1,void this.openFiles(n.dataTransfer?.files??[]))}
>
${this.header()}
<main>
${this.helpText()} ${this.intro()} ${e?f`<div class="sticky">${this.transport()} ${this.say()}</div>`:g} ${this.card()}
          ${this.runs.length?this.timeline():g}
          ${!e&&!this.message&&!this.runs.length?this.empty():g}
          ${this.editing&&this.request?this.form():g}
          ${e?f`<div class="columns">${this.narrow?[this.warp(e,t),this.program(e,t)]:[this.program(e,t),this.warp(e,t)]}</div>
${this.panes()}`:g}
        </main>
      </div>
      <dialog class="link" aria-label="Link">
        <form method="dialog"><h2>A link to this program, at this place</h2><p class="soft">The link holds the program and the launch; no server stores them. It is copied.</p><input readonly aria-label="Link" .value=${this.link} /><button class="primary">Close</button></form>
      </dialog>
      <dialog class="licenses" aria-label="Licenses">
        <form method="dialog"><pre tabindex="0">${this.licenses}</pre><button class="primary">Close</button></form>
      </dialog>`}program(e,t){return f`<section class="program" aria-label="Program"><div class="bar"><h2>Program</h2><span class="soft">${this.runs[this.main].label}: lanes at each line</span></div>
<gemu-program .model=${e} .step=${t} .register=${this.register} .hideNext=${this.asking}></gemu-program></section>`}warp(e,t){return f`<section class="state" aria-label="Warp"><div class="bar"><h2>${Yi(e)}</h2><span class="soft">${this.lane>=0?f`lane ${this.lane} <button class="small" @click=${()=>this.lane=-1}>let go</button>`:""}</span></div>
      ${this.question()} ${this.warps()}
      <gemu-warp .model=${e} .step=${t} .hex=${this.hex} .register=${this.register} .lane=${this.lane} .asking=${this.asking} .picked=${this.picked}></gemu-warp>
      ${this.asking?g:f`<div class="bar stack-head"><h2>${e.launch.policy.startsWith("stack")?"Reconvergence stack":"Warp splits"}</h2></div><gemu-stack .model=${e} .step=${t}></gemu-stack>`}</section>`}empty(){return f`<section class="card empty"><h2>${this.engine?"Loading…":"Open a recording"}</h2><p>${this.engine?"The engine starts.":f`Drop a file made by <code>gemu record FILE --with all -o run.gemu</code> here, or press Open. Several files, one for each policy, are shown one below the other.`}</p></section>`}};function Ji(r){let s=e=>e.slice(0,e[2]>1?3:e[1]>1?2:1).join("×");return`grid ${s(r.grid)}, block ${s(r.block)}`}function Yi(r){let s=Y(r.lanes).length;return`${r.launch.grid.some(e=>e>1)?`CTA ${r.launch.ctaName(r.info.cta)}, w`:"W"}arp ${r.info.warp}, ${me(s,"lane")}`}var Qi={start:"M4 3v10M13 3L6 8l7 5z",previous:"M8 8l6-5v10zM2 8l6-5v10z",back:"M11 3L4 8l7 5z",play:"M4 2.5v11L13 8z",pause:"M4 3h3v10H4zM9 3h3v10H9z",forward:"M5 3l7 5-7 5z",next:"M8 8L2 3v10zM14 8L8 3v10z",end:"M12 3v10M3 3l7 5-7 5z"},Ue=r=>f`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d=${Qi[r]} fill="currentColor" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round"/></svg>`;customElements.define("gemu-player",$s);var On=new WeakMap;function ks(r){let s=On.get(r);return s||On.set(r,s=Xi(r)),s}function Xi(r){let s=r.sources.find(t=>t.kind==="ptx"),e=[{kind:"ptx",name:s?.name??r.file,lines:s?_n(r,s.text,t=>t.line,!0):er(r)}];for(let t of r.sources)t.kind!=="compiled"||!r.instructions.some(n=>n.sourceFile===t.name)||e.push({kind:"compiled",name:t.name,lines:_n(r,t.text,n=>n.sourceFile===t.name?n.sourceLine:0,!1)});return e}function er(r){let s=new Map;for(let e of r.instructions){let t=s.get(e.line);t?(t.instructions.push(e),t.text+=` ${e.text};`):s.set(e.line,{number:e.line,text:`	${e.text};`,instructions:[e]})}return[...s.values()].sort((e,t)=>e.number-t.number)}function _n(r,s,e,t){let n=s.split(/\r?\n/),i=new Map,o=[],a=new Map;for(let h of r.instructions){let u=e(h);if(u<1||u>n.length)continue;let p=i.get(u);p?p.push(h):i.set(u,[h]);let d=a.get(h.function);a.set(h.function,[Math.min(d?.[0]??u,u),Math.max(d?.[1]??u,u)])}for(let[h,u]of a.values()){let p=t?/\.(entry|func)\b/:/__(global|device)__|^\S.*\)\s*\{?\s*$/;for(let d=h;d>Math.max(0,h-200);d--)if(p.test(n[d-1])){h=d;break}for(let d=u;d<=Math.min(n.length,u+20);d++)if(/^\}/.test(n[d-1])){u=d;break}o.push([h,u])}o.sort((h,u)=>h[0]-u[0]);let c=[],l=0;for(let[h,u]of o){for(let p=Math.max(h,l+1);p<=u;p++)(!t||!/^\s*\.loc\s/.test(n[p-1]))&&c.push({number:p,text:n[p-1],instructions:i.get(p)??[]});l=Math.max(l,u)}return c}var tr=/(\/\/.*|\/\*.*?\*\/)|(@!?%\w+)|(%[\w.]+)|(^\s*[\w$]+:)|((?<![\w.])\.[a-z]\w*)|(\b0[xXfFdD][\da-fA-F]+\b|\b\d[\w.]*\b)|((?:^|(?<=[\s;}:]))[a-z][a-z0-9_]*(?:\.[a-z0-9_:]+)*(?=[\s;]))/g;function qn(r){let s=[],e=0;for(let t of r.matchAll(tr)){t.index>e&&s.push({kind:"",text:r.slice(e,t.index)});let n=t[1]?"comment":t[2]?"guard":t[3]?"register":t[4]?"label":t[5]?"directive":t[6]?"number":"op";s.push({kind:n,text:t[0]}),e=t.index+t[0].length}return e<r.length&&s.push({kind:"",text:r.slice(e)}),s}var Ze=class{constructor(s,e,t){this.host=s;this.buttons=e;this.preferred=t;this.focused=s=>{let e=this.list;e.includes(s.target)&&this.choose(e,s.target)};this.key=s=>{let e=s.key==="ArrowDown"?1:s.key==="ArrowUp"?-1:0,t=this.list,n=t.indexOf(s.target);!e||n<0||s.ctrlKey||s.altKey||s.metaKey||s.shiftKey||(s.preventDefault(),s.stopPropagation(),t[n+e]?.focus())};s.addController(this)}get list(){return[...this.host.renderRoot.querySelectorAll(this.buttons)]}hostUpdated(){let s=this.list,e=this.host.renderRoot,t=s.find(n=>n===e.activeElement);this.choose(s,t??e.querySelector(this.preferred)??s.find(n=>n.tabIndex===0)??s[0])}choose(s,e){for(let t of s)t.tabIndex=t===e?0:-1}};var As=22,sr=8;function Dn(r){let s=[];for(let e of[...r].sort((t,n)=>Math.abs(t.to-t.from)-Math.abs(n.to-n.from))){let[t,n]=[Math.min(e.from,e.to),Math.max(e.from,e.to)];for(;s.some(i=>i.column===e.column&&Math.min(i.from,i.to)<=n&&Math.max(i.from,i.to)>=t);)e.column++;s.push(e)}return s.filter(e=>e.column<sr)}function Ms(r){let s=r.reduce((e,t)=>Math.max(e,t.column+1),0);return s?s*8+14:6}function Fn(r,s,e=()=>!1){let t=Ms(r);return f`<svg class="flow" width=${t} height=${s*As} aria-hidden="true">
${r.map(n=>{let i=e(n)?"taken":"",o=t-8,[a,c,l]=[(n.from+.5)*As,(n.to+.5)*As,o-6-n.column*8],h=Math.min(5,Math.abs(c-a)/2),u=c>a?1:-1;return J`<path class=${i} d="M${o} ${a}H${l+h}Q${l} ${a} ${l} ${a+u*h}V${c-u*h}Q${l} ${c} ${l+h} ${c}H${o-3}"/><path class="tip ${i}" d="M${o+1} ${c}l-6 -3.5v7z"/>`})}
  </svg>`}function jn(r,s="",e){return r?qn(r.replaceAll("	","    ")).map(t=>{if(t.kind==="")return t.text;if(t.kind!=="register"&&t.kind!=="guard")return f`<span class=${t.kind==="number"?"number-token":t.kind}>${t.text}</span>`;let n=t.text.replace(/^@!?/,"");return f`<span class="${t.kind} ${n===s?"picked":""}" @click=${e?()=>e(n):g}>${t.text}</span>`}):" "}var Vn=K`
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
`;var Es=class extends ne{constructor(){super(...arguments);this.rover=new Ze(this,".number button",".row.now .number button");this.language=0;this.hover=0;this.register="";this.hideNext=!1}static{this.properties={language:{state:!0},hover:{state:!0},register:{},hideNext:{attribute:!1}}}static{this.styles=[ie,Vn,K`
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
/* Outlines of lanes as narrow as these would touch and look filled. */
.lanes .hollow {
stroke: none;
fill: color-mix(in srgb, var(--hue) 35%, var(--card));
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
`]}updated(e){if(!e.has("step")&&!e.has("model")&&!e.has("language"))return;let t=this.renderRoot.querySelector(".scroll"),n=this.renderRoot.querySelector(".row.now .number");if(!t||!n)return;let[i,o]=[n.offsetTop,t.clientHeight];i<t.scrollTop+30?t.scrollTop=Math.max(0,i-60):i+60>t.scrollTop+o&&(t.scrollTop=i+90-o)}arcs(e){let t=this.model.launch,n=[];for(let i of t.blocks){if(i.instructions===0)continue;let o=i.first+i.instructions-1;for(let a of i.next){let c=t.blocks[a];if(!c||c.first===o+1)continue;let[l,h]=[e.get(o),e.get(c.first)];l!==void 0&&h!==void 0&&n.push({from:l,to:h,column:0,instruction:o,target:c.first})}}return Dn(n)}render(){let e=this.model;if(this.failure)return f`<p>${this.failure}</p>`;if(!e)return g;let t=ks(e.launch),n=t[Math.min(this.language,t.length-1)],i=n.kind==="ptx",o=e.state(this.step),a=o.end?-1:o.instruction,c=new Map;n.lines.forEach((p,d)=>p.instructions.forEach(w=>c.set(w.index,d)));let l=i?this.arcs(c):[],h=Ms(l),u=this.hideNext||o.end?[]:e.outcome(this.step).groups.map(p=>p.instruction);return f`${t.length>1?f`<div class="tabs" role="group" aria-label="Language">${t.map((p,d)=>f`<button aria-pressed=${d===this.language} @click=${()=>this.language=d}>${p.kind==="ptx"?"PTX":p.name.split("/").pop()}</button>`)}</div>`:g}
      <div class="scroll" tabindex="0" role="region" aria-label="Lines of the program">
        <div class="rows" role="table" aria-label="Lines of ${n.name}, with the lanes at each" @keydown=${this.rover.key} @focusin=${this.rover.focused} style="--arcs:${h}px">
          <div class="hidden" role="rowgroup"><div role="row"><span role="columnheader">block</span><span role="columnheader">line</span><span role="columnheader">lanes</span><span role="columnheader">code</span></div></div>
          <div role="rowgroup" style="display:contents">${n.lines.map(p=>this.row(p,o,a,i))}</div>
          ${Fn(l,n.lines.length,p=>p.instruction===a&&u.includes(p.target))}
        </div>
      </div>`}row(e,t,n,i){let o=this.model,a=e.instructions[0],c=e.instructions.some(p=>p.index===n),l=a?a.block:-1,u=i&&a&&o.launch.blocks[l]?.first===a.index?o.launch.blocks[l].letter:"";return f`<div class="row ${c?"now":""}" role="row" @pointerenter=${()=>this.point(e)} @pointerleave=${()=>this.point(void 0)}>
<span class="arcs" aria-hidden="true"></span>
<span class="block" role="cell">${u?f`<span class="letter" style=${he(l)}>${u}</span>`:g}</span>
      <span class="number" role="cell">${a?f`<button title="Run to line ${e.number}" aria-label="Run to line ${e.number}" aria-current=${c?"step":g} @click=${()=>this.send("gemu-run-to",{line:e.number,source:!i,file:i?"":this.file})}>${e.number}</button>`:f`<span>${e.number}</span>`}</span>
      <span class="lanes" role="cell">${a?this.lanes(e.instructions,t):g}</span>
      <span class="code" role="cell">${i?jn(e.text,this.register,p=>this.send("gemu-register",{name:p})):e.text.replaceAll("	","    ")||" "}</span>
    </div>`}get file(){return ks(this.model.launch)[this.language]?.name??""}point(e){let t=this.model,n=this.language===0;if(this.send("gemu-lines",{lines:e?new Set(e.instructions.map(h=>h.line)):new Set}),!e||e.instructions.length===0)return this.send("gemu-hover",{text:""});let i=t.state(this.step),o=i.groups.filter(h=>e.instructions.some(u=>u.index===h.instruction)),a=0;for(let h=0;h<t.steps;h++)e.instructions.some(u=>u.index===t.instruction[h])&&a++;let c=this.hideNext?"":` The warp executes it ${a===1?"once":a===0?"never":`${a.toLocaleString("en")} times`}.`,l=o.map(h=>`${X(h.lanes,t.lanes)} ${Fe(t,h,i.groups)}`).join("; ");this.send("gemu-hover",{text:`Line ${e.number}: ${n?e.instructions.map(h=>h.text).join("; "):e.text.trim()}.${c}${l?` Now ${l}.`:""}`})}lanes(e,t){let n=this.model,[i,o]=[q,q];for(let u of t.groups)e.some(p=>p.index===u.instruction)&&(u.reason==="runs"?i=Z(i,u.lanes):o=Z(o,u.lanes));let a=Z(i,o);if(C(a))return g;let c=n.launch.warpSize,l=rt(i,o,n.lanes),h=96/c;return f`<svg viewBox="0 0 96 12" preserveAspectRatio="none" style=${he(e[0].block)} role="img" aria-label=${l}>
<rect class="rail" x="0" y="5" width="96" height="2"></rect>
${Array.from({length:c},(u,p)=>R(a,p)?J`<rect class=${R(i,p)?"on":"hollow"} x=${p*h+.4} y="1" width=${h-.8} height="10"/>`:g)}
    </svg>`}};customElements.define("gemu-program",Es);var Ss=class extends ne{constructor(){super(...arguments);this.register="";this.lane=-1;this.all=!1;this.hex=!1;this.rover=new Ze(this,"th.name button","th.name button[aria-pressed=true]")}static{this.properties={register:{},lane:{attribute:!1},all:{state:!0},hex:{type:Boolean,reflect:!0}}}static{this.styles=[ie,K`
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
padding: 0 10px;
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
min-width: 1.2em;
color: var(--accent);
font-weight: 700;
}
p {
margin: 6px 0 0;
font-size: 13px;
color: var(--soft);
}
`]}choose(e){this.hex=e,this.send("gemu-hex",{hex:e})}chip(e){if(e.class==="none")return f`<span class="chip" title="No active lane has a value">–</span>`;let t=e.class;return e.few&&e.lanes>0?f`<span class="chip few" title="Any ${e.lanes===1?"single value is uniform":"two values are uniform or affine"}: the class of ${e.lanes} ${e.lanes===1?"lane":"lanes"} says nothing">${e.lanes} ${e.lanes===1?"lane":"lanes"}</span>`:f`<span class="chip ${t[0]}" title=${t}>${t[0]}<span class="hidden">: ${t}</span></span>`}line(e,t){let n=this.model,i=this.step<n.steps?n.active(this.step):n.lanes,{name:o,type:a,bits:c}=e.register,l=pt(n,e.register,this.hex),h=[e.read&&["→","read"],e.written&&["←","written"]].filter(u=>!!u);return f`<tr class=${e.written?"written":""}>
<th class="name" scope="row"><button aria-pressed=${this.register===o} title="${o} ${a}: show its values in the cells of the warp" @click=${()=>this.send("gemu-register",{name:o})}>${o}</button></th>
<td class="class">${this.chip(e.structure)} <span class="mark" title=${h.length?`${h.map(([,u])=>u).join(" and ")} by this step`:""}>${h.map(([u])=>u).join("")}</span></td>
      <td class="formula">${e.structure.few?"":$n(e.structure,a,c,l)}</td>
      ${t.map(u=>{let p=e.values[u],d=p===void 0?"·":Ge(p,a,c,l),w=!R(i,u);return f`<td class="${w?"off":""} ${u===this.lane?"lane":""}" title="lane ${u}: ${d}${w?", not active":""}">${l===16?dt(d.replace(/^0x/,""),this.hex?8:4):Lt(d,6)}</td>`})}
    </tr>`}render(){let e=this.model;if(this.failure)return f`<p>${this.failure}</p>`;if(!e)return g;if(!e.launch.has.results)return f`<p>The recording has no values. Record with --with results.</p>`;let t=Array.from({length:e.launch.warpSize},(o,a)=>a).filter(o=>R(e.lanes,o)),n=e.registers(this.step),i=n.length;if(!this.all&&i>24){let o=new Set([...n].sort((a,c)=>c.last-a.last).slice(0,20));n=n.filter(a=>o.has(a)||a.read||a.register.name===this.register)}return f`<div class="bar">
<span>class over the active lanes:</span><span><span class="chip u">u</span> uniform: one value</span><span><span class="chip a">a</span> affine: base + stride · lane</span><span><span class="chip g">g</span> generic: anything</span>
<span>in this step: <span class="mark">→</span>read, <span class="mark">←</span>written</span>
<span class="choice" role="group" aria-label="Numbers">${[!1,!0].map(o=>f`<button aria-pressed=${this.hex===o} title=${o?"All numbers in hexadecimal, floats as their bits":"Numbers in decimal, addresses in hexadecimal"} @click=${()=>this.choose(o)}>${o?"hexadecimal":"decimal"}</button>`)}</span>
        ${i>24?f`<button aria-pressed=${this.all} @click=${()=>this.all=!this.all}>all ${i} registers</button>`:g}
      </div>
      ${n.length===0?f`<p>No register has a value yet.</p>`:f`<div class="scroll" tabindex="0" role="region" aria-label="Registers by lane">
<table @keydown=${this.rover.key} @focusin=${this.rover.focused}>
<caption class="hidden">Values of registers in each lane</caption>
<thead><tr><th class="name" scope="col">register</th><th class="left" scope="col">class</th><th class="left" scope="col">formula</th>${t.map(o=>f`<th scope="col" class=${o===this.lane?"lane":""}><span class="hidden">lane </span>${o}</th>`)}</tr></thead>
              <tbody>${n.map(o=>this.line(o,t))}</tbody>
            </table>
          </div>`}`}};customElements.define("gemu-registers",Ss);var Gn=new WeakMap;function ft(r){let s=Gn.get(r);if(s)return s;s=[];let e;for(let t=0;t<r.steps;t++){let n=r.instructionAt(t).block,i=t>0&&r.instruction[t]<=r.instruction[t-1];e&&!i&&e.block===n&&e.active.lo===r.activeLo[t]&&e.active.hi===r.activeHi[t]?e.to=t+1:s.push(e={from:t,to:t+1,block:n,active:j(r.activeLo[t],r.activeHi[t])})}return Gn.set(r,s),s}function mt(r,s){let[e,t]=[0,r.length];for(;e<t;){let n=e+t>>>1;r[n].to<=s?e=n+1:t=n}return Math.min(e,r.length-1)}function Zn(r,s){let[e,t]=[r.line(s.from),r.line(s.to-1)],n=r.ended(s.from),i=W(W(r.lanes,n),s.active),o=[];return C(i)||o.push(G(i,r.lanes,"wait","waits")),C(n)||o.push(`${G(n,r.lanes,"have","has")} ended`),{steps:s.to-s.from===1?`${s.from+1}`:`${s.from+1}–${s.to}`,letter:r.launch.blocks[s.block]?.letter??"",lines:e===t?`${e}`:`${e}–${t}`,active:X(s.active,r.lanes),others:o.join("; ")}}var Kn=r=>r.replace(/[&<>"']/g,s=>`&#${s.charCodeAt(0)};`),nr=5e3;function Jn(r,s,e,t,n){let i=r.launch.warpSize,o=Math.max(1,t-e),a=Math.max(1,Math.min(24,960/o)),c=i<=8?14:i<=16?9:6,[l,h]=[34,44],u=Math.ceil(l+o*a+12),p=h+i*c+26,d=[],w=ft(r).filter(b=>b.to>e&&b.from<t);for(let b of w.slice(0,nr)){let[M,E]=[Math.max(b.from,e),Math.min(b.to,t)],$=l+(M-e)*a,m=n.blocks[Math.max(b.block,0)%n.blocks.length],y=r.ended(b.from);for(let v=0;v<i;){let x=!R(r.lanes,v)||R(y,v)?0:R(b.active,v)?2:1,A=v+1;for(;A<i&&(!R(r.lanes,A)||R(y,A)?0:R(b.active,A)?2:1)===x;)A++;x&&d.push(`<rect x="${$.toFixed(2)}" y="${h+v*c}" width="${((E-M)*a-(a>4?1:0)).toFixed(2)}" height="${(A-v)*c-.6}" fill="${x===2?m:n.idle}"/>`),v=A}let S=r.launch.blocks[b.block]?.letter;S&&(E-M)*a>=9&&d.push(`<text x="${($+(E-M)*a/2).toFixed(1)}" y="${h-6}" text-anchor="middle" font-weight="700" fill="${m}">${S}</text>`)}for(let b=0;b<i;b+=i<=8?1:8)d.push(`<text x="${l-6}" y="${h+b*c+c/2+3.5}" text-anchor="end" fill="${n.soft}">${b}</text>`);if(a>=15)for(let b=e;b<Math.min(t,r.steps);b++)d.push(`<text x="${(l+(b-e+.5)*a).toFixed(1)}" y="${h+i*c+12}" text-anchor="middle" fill="${n.soft}">${r.line(b)}</text>`);let k=`${s}: ${r.steps} instructions of warp ${r.info.warp} of CTA ${r.launch.ctaName(r.info.cta)}. ${at(r)}`;return`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${u} ${p}" width="${u}" height="${p}" role="img" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="10"><title>${Kn(k)}</title><rect width="100%" height="100%" fill="${n.card}"/><text x="${l}" y="18" font-size="13" font-weight="700" fill="${n.ink}" font-family="system-ui, sans-serif">${Kn(s)}</text>${d.join("")}</svg>
`}var[re,Q,Yn]=[30,18,15],ir=56,We=40,Ls=class extends ne{constructor(){super(...arguments);this.label="";this.laneHeight=0;this.revealed=1/0;this.otherLabel="";this.lane=-1;this.lines=new Set;this.width=0;this.open=!1;this.tableFrom=-1;this.drawn="";this.observer=new ResizeObserver(()=>this.width=this.wrap?.clientWidth??0);this.repaint=()=>{this.drawn="",this.requestUpdate()};this.down=e=>{if(e.button!==0)return;let{x:t,step:n}=this.pointed(e);this.press={x:t,step:n,touch:e.pointerType!=="mouse"},this.wrap.setPointerCapture(e.pointerId),this.press.touch&&this.to(n)};this.move=e=>{let{x:t,step:n,lane:i}=this.pointed(e),o=this.model;this.press?.touch?this.to(n):this.press&&Math.abs(t-this.press.x)>6&&(this.dragged={from:Math.min(this.press.step,n),to:Math.max(this.press.step,n)+1});let a=n>=0&&n<o.steps&&n<=this.revealed&&i>=0&&i<o.launch.warpSize;this.send("gemu-hover",{text:a?`${this.label?this.label+": ":""}${Xs(o,n,i)}`:""})};this.up=e=>{let{step:t}=this.pointed(e),{press:n,dragged:i}=this;this.press=this.dragged=void 0,n&&(i?this.zoom({from:oe(i.from,0,this.model.steps),to:oe(i.to,1,this.model.steps+1)}):this.to(t))};this.key=e=>{let t=this.model.steps,n={ArrowRight:()=>this.to(this.step+1),ArrowLeft:()=>this.to(this.step-1),ArrowUp:()=>this.to(this.step-1),ArrowDown:()=>this.to(this.step+1),PageUp:()=>this.to(this.step-10),PageDown:()=>this.to(this.step+10),Home:()=>this.to(0),End:()=>this.to(t),"+":()=>this.scale(.5),"=":()=>this.scale(.5),"-":()=>this.scale(2),0:()=>this.zoom(void 0)};e.ctrlKey||e.metaKey||e.altKey||e.shiftKey&&e.key.startsWith("Arrow")||!n[e.key]||(n[e.key](),e.preventDefault(),e.stopPropagation())}}static{this.properties={label:{},laneHeight:{type:Number,attribute:"lane-height"},view:{attribute:!1},revealed:{attribute:!1},other:{attribute:!1},otherLabel:{attribute:!1},lane:{attribute:!1},lines:{attribute:!1},width:{state:!0},open:{state:!0},tableFrom:{state:!0},dragged:{state:!0}}}static{this.styles=[ie,K`
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
`]}get wrap(){return this.renderRoot.querySelector(".wrap")}visible(){let e=(this.model?.steps??0)+1,t=this.view??{from:0,to:e},n=Math.max(this.width-re-4,40);return{...t,w:Math.min(ir,n/Math.max(t.to-t.from,1))}}get height(){let e=this.model?.launch.warpSize??32;return this.laneHeight||(e<=8?14:e<=16?9:e<=32?5:3)}firstUpdated(){matchMedia("(prefers-color-scheme: dark)").addEventListener("change",this.repaint),matchMedia("(forced-colors: active)").addEventListener("change",this.repaint)}disconnectedCallback(){super.disconnectedCallback(),this.observer.disconnect(),matchMedia("(prefers-color-scheme: dark)").removeEventListener("change",this.repaint),matchMedia("(forced-colors: active)").removeEventListener("change",this.repaint)}updated(){let e=this.wrap;e&&(this.observer.observe(e),!this.width&&e.clientWidth&&(this.width=e.clientWidth),this.paint())}palette(){let e=document.createElement("i");this.renderRoot.append(e);let t=o=>(e.style.color=o,getComputedStyle(e).color),i=matchMedia("(forced-colors: active)").matches?{blocks:[t("CanvasText")],on:t("Canvas"),idle:t("GrayText"),edge:t("GrayText"),ink:t("CanvasText"),soft:t("CanvasText"),card:t("Canvas")}:{blocks:Array.from({length:ls},(o,a)=>t(`var(--b${a})`)),on:t("var(--on)"),idle:t("var(--idle)"),edge:t("var(--edge)"),ink:t("var(--ink)"),soft:t("var(--soft)"),card:t("var(--card)")};return e.remove(),i}paint(){let e=this.renderRoot.querySelector("canvas"),t=this.model;if(!e||!t||!this.width)return;let{from:n,to:i,w:o}=this.visible(),a=[t.info.cta,t.info.warp,this.label,this.width,this.height,n,i,this.revealed,devicePixelRatio,this.lane,this.other?.launch.policy].join();if(this.drawn===a&&this.drawnModel===t&&this.drawnOther===this.other)return;[this.drawn,this.drawnModel,this.drawnOther]=[a,t,this.other];let c=this.palette(),l=t.launch.warpSize,h=this.height,u=devicePixelRatio||1,p=Q+l*h+Yn;e.width=Math.round(this.width*u),e.height=Math.round(p*u),e.style.height=`${p}px`;let d=e.getContext("2d");d.scale(u,u),d.clearRect(0,0,this.width,p);let w=m=>re+(m-n)*o,k=Math.min(i,t.steps,this.revealed+1);d.font="10px ui-monospace, Menlo, Consolas, monospace",d.textBaseline="middle",d.fillStyle=c.soft,d.textAlign="right";for(let m=0;m<l;m+=h>=10?1:8)d.fillText(String(m),re-6,Q+m*h+Math.max(h/2,4));d.save(),d.beginPath(),d.rect(re,0,this.width-re,p),d.clip();let b=ft(t),[M,E]=[mt(b,Math.floor(n)),mt(b,Math.ceil(k)-1)];b.length>0&&E-M<6e3?this.paintRuns(d,c,M,E,k,w,o):b.length>0&&this.paintColumns(d,c,k,w,o,u),d.strokeStyle=c.edge,d.globalAlpha=.55,d.setLineDash([1,3]),d.lineWidth=1;for(let m=0;m<l;m++){if(!R(t.lanes,m))continue;let y=rr(t,m);if(y>=k)continue;d.beginPath();let S=Q+m*h+h/2;d.moveTo(Math.max(w(y),re)+2,S),d.lineTo(w(k),S),d.stroke()}if(d.setLineDash([]),d.globalAlpha=1,t.steps>i&&this.revealed>=t.steps){let[m,y]=[w(i),Q/2];d.fillStyle=c.ink,d.beginPath(),d.moveTo(m,y),d.lineTo(m-9,y-6),d.lineTo(m-9,y+6),d.fill()}k===t.steps&&i>t.steps&&this.paintEnd(d,c,w(t.steps),Math.max(o,6),l*h),d.textAlign="center",d.fillStyle=c.soft;let $=t.launch.instructions.some(m=>m.line>=1e3)?30:t.launch.instructions.some(m=>m.line>=100)?22:16;if(o>=$)for(let m=Math.max(0,Math.floor(n));m<k;m++)d.fillText(String(t.line(m)),w(m+.5),p-Yn/2+1);if(this.other){d.fillStyle=c.ink;for(let m=Math.max(0,Math.floor(n));m<Math.min(k,this.revealed+1);m++)as(this.other,t,m)&&d.fillRect(w(m),Q+l*h+1,Math.max(o-.5,.5),2)}this.lane>=0&&this.lane<l&&(d.strokeStyle=c.ink,d.lineWidth=1.5,d.strokeRect(re+.75,Q+this.lane*h-.75,w(k)-re-1.5,h+1)),d.restore()}paintRuns(e,t,n,i,o,a,c){let l=this.model,[h,u]=[l.launch.warpSize,this.height],p=c>=5?1:0,d=u>=4?.8:0,w=ft(l);for(let k=n;k<=i;k++){let b=w[k],M=Math.min(b.to,o),[E,$]=[a(b.from),a(M)],m=W(W(l.lanes,l.ended(b.from)),b.active),y=t.blocks[Math.max(b.block,0)%t.blocks.length];for(let[x,A]of[[m,t.idle],[b.active,y]])if(!C(x)){e.fillStyle=A;for(let z=0;z<h;z++)R(x,z)&&e.fillRect(E,Q+z*u,Math.max($-E-p,.6),u-d)}if(c>=3){e.fillStyle=t.card,e.globalAlpha=.6;for(let x=b.from;x<M;x++){let A=l.branches(x)?void 0:W(l.active(x),l.executing(x));if(!(!A||C(A)))for(let z=0;z<h;z++)R(A,z)&&e.fillRect(a(x),Q+z*u,c-p,u-d)}e.globalAlpha=1}if(p&&c>=10){e.fillStyle=t.card;for(let x=b.from+1;x<M;x++)e.fillRect(a(x)-p,Q,p,h*u)}let S=l.launch.blocks[b.block]?.letter,v=Math.max(E,re);S&&$-v>=9&&(e.fillStyle=y,e.fillRect(v,1,Math.max($-v-p,1),Q-4),e.fillStyle=t.on,e.textAlign="center",e.font="bold 11px ui-monospace, Menlo, Consolas, monospace",e.fillText(S,(v+Math.min($,this.width))/2,Q/2-.5),e.font="10px ui-monospace, Menlo, Consolas, monospace")}}paintColumns(e,t,n,i,o,a){let c=this.model,[l,h]=[c.launch.warpSize,this.height],{from:u}=this.visible(),p=Math.ceil(i(n)-re);if(p<=0)return;let d=new ImageData(p,l),w=new Uint32Array(d.data.buffer),k=[...t.blocks,t.idle].map(M=>{let[E,$,m]=M.match(/[\d.]+/g).map(Number);return 255<<24|m<<16|$<<8|E});for(let M=0;M<p;M++){let E=Math.max(0,Math.floor(u+M/o)),$=Math.min(n,Math.max(E+1,Math.floor(u+(M+1)/o)));for(let m=0;m<l;m++){if(!R(c.lanes,m))continue;let y=0;for(let S=$-1;S>=E&&!y;S--)((m<32?c.activeLo[S]>>>m:c.activeHi[S]>>>m-32)&1)===1&&(y=k[Math.max(c.instructionAt(S).block,0)%t.blocks.length]);!y&&!R(c.ended(E),m)&&(y=k[k.length-1]),w[m*p+M]=y}}let b=document.createElement("canvas");[b.width,b.height]=[p,l],b.getContext("2d").putImageData(d,0,0),e.imageSmoothingEnabled=a<1,e.drawImage(b,re,Q,p,l*h)}paintEnd(e,t,n,i,o){let a=this.model,c=W(a.lanes,a.ended(a.steps));if(C(c))return;let l=a.launch.outcome==="stopped"||a.launch.outcome==="done";if(e.strokeStyle=t.ink,e.lineWidth=2,e.setLineDash(l?[3,4]:[]),e.beginPath(),e.moveTo(n+1,Q-2),e.lineTo(n+1,Q+o+2),e.stroke(),e.setLineDash([]),!l){e.save(),e.beginPath(),e.rect(n+1,Q-2,Math.max(i,10),o+4),e.clip(),e.lineWidth=1,e.beginPath();for(let h=-20;h<o+20;h+=6)e.moveTo(n,Q+h+14),e.lineTo(n+40,Q+h-26);e.stroke(),e.restore()}}pointed(e){let t=this.wrap.getBoundingClientRect(),{from:n,w:i}=this.visible(),o=e.clientX-t.left;return{x:o,step:Math.floor(n+(o-re)/i),lane:Math.floor((e.clientY-t.top-Q)/this.height)}}to(e){this.go(oe(e,0,Math.min(this.model.steps,this.revealed)))}zoom(e){let t=new CustomEvent("gemu-zoom",{detail:{view:e},bubbles:!0,composed:!0,cancelable:!0});this.dispatchEvent(t)&&(this.view=e)}scale(e){let{from:t,to:n}=this.visible(),i=(n-t)*e,o=this.model.steps+1;if(i>=o)return this.zoom(void 0);let a=oe(this.step+.5-i/2,0,o-i);this.zoom({from:Math.round(a),to:Math.round(a)+Math.max(4,Math.round(i))})}svg(){let{from:e,to:t}=this.visible();return Jn(this.model,this.label||this.model.launch.policy,Math.floor(e),Math.min(Math.ceil(t),this.model.steps,this.revealed+1),this.palette())}get fileName(){return`${this.model.launch.kernel}-${(this.label||this.model.launch.policy).replace(/\W+/g,"-")}`}saveSVG(){Qn(new Blob([this.svg()],{type:"image/svg+xml"}),this.fileName+".svg")}async savePNG(){let e=new Image;e.src="data:image/svg+xml,"+encodeURIComponent(this.svg()),await e.decode();let t=document.createElement("canvas");[t.width,t.height]=[e.width*2,e.height*2],t.getContext("2d").drawImage(e,0,0,t.width,t.height),t.toBlob(n=>n&&Qn(n,this.fileName+".png"))}difference(){let e=this.model;if(!this.other)return g;let t=En(this.other,e);if(t<0)return f`<p class="differs">The same lanes in the same order as under <b>${this.otherLabel}</b>.</p>`;if(t>this.revealed)return g;let[n,i]=en(e,this.other,t);return f`<p class="differs">As under <b>${this.otherLabel}</b> up to step ${t}; then here <b>${n}</b>, there ${i}. The marks below show the steps that differ.</p>`}table(){let e=this.model,t=ft(e),n=t.length?Math.min(t.length,mt(t,Math.min(this.revealed,e.steps-1))+1):0,i=t.length?mt(t,Math.min(this.step,e.steps-1)):0,o=oe(this.tableFrom>=0?this.tableFrom:i-We/2,0,Math.max(0,n-We)),a=Math.min(n,o+We),c=l=>()=>this.tableFrom=oe(l,0,Math.max(0,n-We));return f`<div class="scroll" tabindex="0" role="region" aria-label="Table of ${this.label}">
<table>
<caption class="hidden">Every step of every lane, ${this.label}</caption>
<thead><tr><th scope="col">steps</th><th scope="col">block</th><th scope="col">lines</th><th scope="col">lanes that run</th><th scope="col">the others</th></tr></thead>
<tbody>
${t.slice(o,a).map((l,h)=>{let u=Zn(e,l);return f`<tr class=${o+h===i&&this.step<e.steps?"now":""}><td>${u.steps}</td><td>${u.letter?f`<span class="letter" style=${he(l.block)}>${u.letter}</span>`:""}</td><td>${u.lines}</td><td>${u.active}</td><td>${u.others||"–"}</td></tr>`})}
          </tbody>
        </table>
      </div>
      ${n>We?f`<div class="pages"><button ?disabled=${o===0} @click=${c(o-We)}>Earlier</button><button ?disabled=${a>=n} @click=${c(o+We)}>Later</button><span>rows ${o+1}–${a} of ${n}</span></div>`:g}
      ${this.revealed>=e.steps?f`<p>${at(e)}</p>`:g}`}render(){let e=this.model;if(this.failure)return f`<p class="bad">${this.failure}</p>`;if(!e)return g;let{from:t,to:n,w:i}=this.visible(),o=this.revealed<e.steps,a=oe(this.step,0,e.steps),c=re+(a-t)*i,l=a>=t&&a<=n,h=o?"done":e.launch.outcome,u=t>0||n<e.steps,p=this.label||e.launch.policy;return f`<div class="head">
<h3><slot name="title">${p}</slot></h3>
${h==="deadlock"||h==="trap"?f`<span class="bad">${h==="deadlock"?"✕ deadlock":"✕ stopped by an error"}</span>`:g}
        ${h==="stopped"?f`<span class="soft">${lt(e.launch)}</span>`:g}
        ${(h==="deadlock"||h==="trap")&&n<e.steps?f`<span class="soft">… and so on up to step ${e.steps.toLocaleString("en")}</span>`:g}
        <p>${o?"Predict which lanes run next: the future is not drawn yet.":tn(e)}</p>
        <div class="tools">
          ${u?f`<button @click=${()=>this.scale(2)} aria-label="Zoom out, ${p}" title="Zoom out (−)">−</button><button @click=${()=>this.scale(.5)} aria-label="Zoom in, ${p}" title="Zoom in (+)">+</button><button @click=${()=>this.zoom({from:0,to:e.steps+1})} title="Show all steps (0)">all steps</button>`:g}
          <button aria-expanded=${this.open} @click=${()=>(this.open=!this.open,this.tableFrom=-1)}>table</button>
          <button @click=${this.saveSVG} aria-label="Save ${p} as SVG">SVG</button>
          <button @click=${this.savePNG} aria-label="Save ${p} as PNG">PNG</button>
          <slot name="tools"></slot>
        </div>
      </div>
      <div
        class="wrap"
        tabindex="0"
        role="slider"
        aria-label="Lanes over time, ${p}"
        aria-orientation="horizontal"
        aria-valuemin="1"
        aria-valuemax=${e.steps+1}
        aria-valuenow=${a+1}
        aria-valuetext=${ot(Ie(e,a,o&&a>=this.revealed))}
        @pointerdown=${this.down}
        @pointermove=${this.move}
        @pointerup=${this.up}
        @pointercancel=${()=>this.press=this.dragged=void 0}
        @pointerleave=${()=>this.send("gemu-hover",{text:""})}
        @keydown=${this.key}
      >
        <canvas></canvas>
        ${[...this.marked(t,n)].map(d=>f`<div class="lit" style="left:${re+(d.from-t)*i}px;width:${Math.max(1,(d.to-d.from)*i)}px"></div>`)}
        ${l?f`<div class="head-line" style="left:${c-1}px;width:${Math.max(i+1,5)}px"></div>`:g}
        ${this.dragged?f`<div class="drag" style="left:${re+(this.dragged.from-t)*i}px;width:${(this.dragged.to-this.dragged.from)*i}px"></div>`:g}
      </div>
      ${this.difference()} ${this.open?this.table():g}`}*marked(e,t){let n=this.model;if(this.lines.size===0)return;let i,o=0;for(let a=Math.max(0,Math.floor(e));a<Math.min(t,n.steps,this.revealed+1)&&o<300;a++)this.lines.has(n.line(a))&&(i&&i.to===a?i.to=a+1:(i&&(yield i),i={from:a,to:a+1},o++));i&&(yield i)}};function rr(r,s){if(!R(r.ended(r.steps),s))return 1/0;let[e,t]=[0,r.steps];for(;e<t;){let n=e+t>>>1;R(r.ended(n),s)?t=n:e=n+1}return e}function Qn(r,s){let e=document.createElement("a");e.href=URL.createObjectURL(r),e.download=s,e.click(),setTimeout(()=>URL.revokeObjectURL(e.href),1e4)}customElements.define("gemu-strip",Ls);var or={runs:"runs",masked:"masked",ready:"waits",joins:"waits",barrier:"waits",collective:"waits",waits:"waits",stuck:"waits",ended:"ended",absent:"absent"},Ts=class extends ne{constructor(){super(...arguments);this.register="";this.lane=-1;this.asking=!1;this.picked={lo:0,hi:0};this.focusLane=0;this.hex=!1}static{this.properties={register:{},hex:{type:Boolean},lane:{attribute:!1},asking:{type:Boolean},picked:{attribute:!1},focusLane:{state:!0}}}static{this.styles=[ie,K`
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
.cell b.long {
font-size: 10px;
line-height: 15px;
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
.at,
.short {
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
th:nth-child(2),
td:nth-child(2) {
display: none; /* the cells show it */
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
`]}pick(e){this.asking?this.send("gemu-pick",{lane:e}):this.send("gemu-lane",{lane:this.lane===e?-1:e})}get tabLane(){let{lanes:e}=this.model;return R(e,this.focusLane)?this.focusLane:Y(e)[0]??0}key(e){let t=this.model.launch.warpSize,n=getComputedStyle(this.renderRoot.querySelector(".cells")).gridTemplateColumns.split(" ").length,i={ArrowRight:1,ArrowLeft:-1,ArrowDown:n,ArrowUp:-n};if(!(e.key in i)||e.shiftKey||e.ctrlKey||e.altKey)return;let{lanes:o}=this.model,a=this.tabLane+i[e.key];for(;a>=0&&a<t&&!R(o,a);)a+=i[e.key];e.preventDefault(),e.stopPropagation(),!(a<0||a>=t)&&(this.focusLane=a,this.updateComplete.then(()=>this.renderRoot.querySelectorAll(".cell")[a].focus()))}shown(e){return e.find(t=>t.register.name===this.register)??[...e].filter(t=>t.last>=0).sort((t,n)=>n.last-t.last)[0]}cell(e,t,n){let i=this.model,o=e.groups[e.group[t]],a=o?.reason??"absent",c=o&&o.instruction>=0?i.launch.instructions[o.instruction].block:-1,l=c>=0?i.launch.blocks[c].letter:"",h=n?.values[t],u=n?pt(i,n.register,this.hex):10,p=a==="ended"?"end":h===void 0?"·":Ge(h,n.register.type,n.register.bits,u),d=o?Fe(i,o,e.groups):"has no thread",w=u===16?dt(p.replace(/^0x/,""),5):Lt(p,5),k=this.asking?`lane ${t}`:`lane ${t}: ${d}${o&&o.instruction>=0?`, ${de(i.launch,o.instruction)}`:""}${n&&h!==void 0?`, ${n.register.name} is ${p}`:""}`,b=this.asking?R(this.picked,t):this.lane===t;return f`<button
class="cell ${or[a]} ${a==="joins"?"joins":""}"
style=${he(c)}
aria-pressed=${b}
tabindex=${t===this.tabLane?0:-1}
?disabled=${a==="absent"}
@click=${()=>(this.focusLane=t,this.pick(t))}
@pointerenter=${()=>this.send("gemu-hover",{text:this.asking?"":se(k)})}
@pointerleave=${()=>this.send("gemu-hover",{text:""})}
><span class="hidden">${k}</span><span class="n" aria-hidden="true"><span>${t}</span><span>${this.asking?b?"✓":"":l}</span></span><b class=${w.length>4?"long":""} aria-hidden="true">${w}</b></button>`}mask(e,t){let n=this.model.launch.warpSize;return Xn(e.lanes,n,t)}groups(e){let t=this.model;return f`<div class="scroll" tabindex="0" role="region" aria-label="Groups of lanes">
<table>
<caption class="hidden">Groups of lanes, and what each waits for</caption>
<thead><tr><th scope="col">lanes</th><th scope="col"><span class="hidden">picture</span></th><th scope="col">at</th><th scope="col">now</th></tr></thead>
<tbody>${e.groups.map(n=>this.group(n,e.groups,t.launch.instructions[n.instruction]?.block??-1))}</tbody>
</table>
</div>`}group(e,t,n){let i=this.model,o=i.launch.blocks[n]?.letter,a=Fe(i,e,t),c=_(e.lanes)===1?a.replace(/^are\b/,"is").replace(/^have\b/,"has").replace(/^(run|wait)\b/,"$1s"):a,l=X(e.lanes,i.lanes);return f`<tr style=${he(n)}>
<td class=${l.length<16?"short":""}>${l}</td>
<td>${this.mask(e,e.reason==="runs")}</td>
<td class="at">${e.reason==="ended"?"–":f`${o?f`<span class="letter">${o}</span> `:g}${de(i.launch,e.instruction)}`}</td>
      <td>${c}</td>
    </tr>`}render(){let e=this.model;if(this.failure)return f`<p>${this.failure}</p>`;if(!e)return g;let t=e.launch.warpSize,n=e.state(this.step),i=this.shown(e.registers(this.step)),o=new Set(n.groups.map(c=>c.reason)),a=t>=16?16:t;return f`<div class="cells ${this.asking?"asking":""}" style="--columns:${a}" role="group" aria-label=${this.asking?"Lanes that run next":`Lanes of the warp${i?`, with the values of ${i.register.name}`:""}`} @keydown=${this.key}>
        ${Array.from({length:t},(c,l)=>this.cell(n,l,i))}
      </div>
      ${this.asking?g:f`<ul class="key">
${o.has("runs")?f`<li><i class="runs"></i>runs</li>`:g}
              ${o.has("masked")?f`<li><i class="masked"></i>guard does not hold</li>`:g}
              ${o.has("joins")?f`<li><i class="joins"></i>waits at the reconvergence point</li>`:g}
              ${["ready","barrier","collective","waits","stuck"].some(c=>o.has(c))?f`<li><i></i>waits</li>`:g}
              ${o.has("ended")?f`<li><i class="ended"></i>has ended</li>`:g}
              <li>letter: basic block</li>
              ${i?f`<li>number: <span class="mono">${i.register.name}</span>${pt(e,i.register,this.hex)===16?" in hexadecimal":""}</li>`:g}
            </ul>
            ${this.groups(n)}`}`}};function Xn(r,s,e){return f`<svg class="mask" viewBox="0 0 ${s*4} 12" preserveAspectRatio="none" aria-hidden="true">${Array.from({length:s},(t,n)=>ar(n,R(r,n)?e?"on":"hollow":"off"))}</svg>`}var ar=(r,s)=>J`<rect x=${r*4+.5} y="0.5" width="3" height="11" class=${s}/>`,lr={running:"These lanes execute the instruction of this step",ready:"These lanes can execute; the policy runs others first",blocked:"These lanes wait at a barrier, or for an instruction of other lanes",point:"Reconvergence point: lanes wait here until all that meet here have arrived"},Cs=class extends ne{static{this.styles=[ie,K`
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
`]}render(){let s=this.model;if(!s)return g;if(!s.launch.has.stack)return f`<p>The recording has no stack. Record with --with stack.</p>`;let{stack:e}=s.state(this.step);if(this.step>=s.steps&&C(W(s.lanes,s.ended(s.steps))))return f`<p>All lanes have ended.</p>`;let t=e.filter(o=>o.kind==="point").length,n=this.step>=s.steps,i={running:n?De(s.launch)?"blocked":"stopped":"running",ready:"waiting",blocked:"blocked",point:"point"};return f`<p>${e.length<=1?"The warp is one group: no lanes wait for others.":`${me(e.length-t,"warp split")} (lanes that execute together)${t?`, and ${t===1?"a reconvergence point":`${t} reconvergence points`}, where the lanes that have arrived wait for the others`:""}. The innermost is first.`}</p>
      <ol>
        ${e.map(o=>{let a=s.launch.instructions[o.instruction],c=a?s.launch.blocks[a.block]?.letter:"";return f`<li class=${n&&o.kind==="running"?"blocked":o.kind} style="${he(a?.block??-1)};margin-left:${Math.min(o.depth,12)*10}px">
<b title=${n?g:lr[o.kind]}>${i[o.kind]}</b>${Xn(o.kind==="point"?o.arrived:o.lanes,s.launch.warpSize,o.kind==="running"&&!n)}
<span>${c?f`<span class="letter">${c}</span> `:g}${de(s.launch,o.instruction)}:
            ${o.kind==="point"?Qs(o.arrived,o.lanes,s.lanes):X(o.lanes,s.lanes)}</span>
          </li>`})}
      </ol>`}};customElements.define("gemu-warp",Ts);customElements.define("gemu-stack",Cs);export{Le as Recording,I as RecordingError,Ke as launchesOf,Ie as sentence,ot as sentenceText};
