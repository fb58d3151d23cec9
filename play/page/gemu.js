var ft=globalThis,mt=ft.ShadowRoot&&(ft.ShadyCSS===void 0||ft.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,St=Symbol(),kn=new WeakMap,Je=class{constructor(n,e,t){if(this._$cssResult$=!0,t!==St)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=n,this.t=e}get styleSheet(){let n=this.o,e=this.t;if(mt&&n===void 0){let t=e!==void 0&&e.length===1;t&&(n=kn.get(e)),n===void 0&&((this.o=n=new CSSStyleSheet).replaceSync(this.cssText),t&&kn.set(e,n))}return n}toString(){return this.cssText}},An=o=>new Je(typeof o=="string"?o:o+"",void 0,St),K=(o,...n)=>{let e=o.length===1?o[0]:n.reduce((t,s,i)=>t+(r=>{if(r._$cssResult$===!0)return r.cssText;if(typeof r=="number")return r;throw Error("Value passed to 'css' function must be a 'css' function result: "+r+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(s)+o[i+1],o[0]);return new Je(e,o,St)},Mn=(o,n)=>{if(mt)o.adoptedStyleSheets=n.map(e=>e instanceof CSSStyleSheet?e:e.styleSheet);else for(let e of n){let t=document.createElement("style"),s=ft.litNonce;s!==void 0&&t.setAttribute("nonce",s),t.textContent=e.cssText,o.appendChild(t)}},Lt=mt?o=>o:o=>o instanceof CSSStyleSheet?(n=>{let e="";for(let t of n.cssRules)e+=t.cssText;return An(e)})(o):o;var{is:Us,defineProperty:Ps,getOwnPropertyDescriptor:Ws,getOwnPropertyNames:Hs,getOwnPropertySymbols:Bs,getPrototypeOf:_s}=Object,gt=globalThis,En=gt.trustedTypes,Ns=En?En.emptyScript:"",Os=gt.reactiveElementPolyfillSupport,Ye=(o,n)=>o,Tt={toAttribute(o,n){switch(n){case Boolean:o=o?Ns:null;break;case Object:case Array:o=o==null?o:JSON.stringify(o)}return o},fromAttribute(o,n){let e=o;switch(n){case Boolean:e=o!==null;break;case Number:e=o===null?null:Number(o);break;case Object:case Array:try{e=JSON.parse(o)}catch{e=null}}return e}},Ln=(o,n)=>!Us(o,n),Sn={attribute:!0,type:String,converter:Tt,reflect:!1,useDefault:!1,hasChanged:Ln};Symbol.metadata??=Symbol("metadata"),gt.litPropertyMetadata??=new WeakMap;var we=class extends HTMLElement{static addInitializer(n){this._$Ei(),(this.l??=[]).push(n)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(n,e=Sn){if(e.state&&(e.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(n)&&((e=Object.create(e)).wrapped=!0),this.elementProperties.set(n,e),!e.noAccessor){let t=Symbol(),s=this.getPropertyDescriptor(n,t,e);s!==void 0&&Ps(this.prototype,n,s)}}static getPropertyDescriptor(n,e,t){let{get:s,set:i}=Ws(this.prototype,n)??{get(){return this[e]},set(r){this[e]=r}};return{get:s,set(r){let a=s?.call(this);i?.call(this,r),this.requestUpdate(n,a,t)},configurable:!0,enumerable:!0}}static getPropertyOptions(n){return this.elementProperties.get(n)??Sn}static _$Ei(){if(this.hasOwnProperty(Ye("elementProperties")))return;let n=_s(this);n.finalize(),n.l!==void 0&&(this.l=[...n.l]),this.elementProperties=new Map(n.elementProperties)}static finalize(){if(this.hasOwnProperty(Ye("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(Ye("properties"))){let e=this.properties,t=[...Hs(e),...Bs(e)];for(let s of t)this.createProperty(s,e[s])}let n=this[Symbol.metadata];if(n!==null){let e=litPropertyMetadata.get(n);if(e!==void 0)for(let[t,s]of e)this.elementProperties.set(t,s)}this._$Eh=new Map;for(let[e,t]of this.elementProperties){let s=this._$Eu(e,t);s!==void 0&&this._$Eh.set(s,e)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(n){let e=[];if(Array.isArray(n)){let t=new Set(n.flat(1/0).reverse());for(let s of t)e.unshift(Lt(s))}else n!==void 0&&e.push(Lt(n));return e}static _$Eu(n,e){let t=e.attribute;return t===!1?void 0:typeof t=="string"?t:typeof n=="string"?n.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(n=>this.enableUpdating=n),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(n=>n(this))}addController(n){(this._$EO??=new Set).add(n),this.renderRoot!==void 0&&this.isConnected&&n.hostConnected?.()}removeController(n){this._$EO?.delete(n)}_$E_(){let n=new Map,e=this.constructor.elementProperties;for(let t of e.keys())this.hasOwnProperty(t)&&(n.set(t,this[t]),delete this[t]);n.size>0&&(this._$Ep=n)}createRenderRoot(){let n=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return Mn(n,this.constructor.elementStyles),n}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(n=>n.hostConnected?.())}enableUpdating(n){}disconnectedCallback(){this._$EO?.forEach(n=>n.hostDisconnected?.())}attributeChangedCallback(n,e,t){this._$AK(n,t)}_$ET(n,e){let t=this.constructor.elementProperties.get(n),s=this.constructor._$Eu(n,t);if(s!==void 0&&t.reflect===!0){let i=(t.converter?.toAttribute!==void 0?t.converter:Tt).toAttribute(e,t.type);this._$Em=n,i==null?this.removeAttribute(s):this.setAttribute(s,i),this._$Em=null}}_$AK(n,e){let t=this.constructor,s=t._$Eh.get(n);if(s!==void 0&&this._$Em!==s){let i=t.getPropertyOptions(s),r=typeof i.converter=="function"?{fromAttribute:i.converter}:i.converter?.fromAttribute!==void 0?i.converter:Tt;this._$Em=s;let a=r.fromAttribute(e,i.type);this[s]=a??this._$Ej?.get(s)??a,this._$Em=null}}requestUpdate(n,e,t,s=!1,i){if(n!==void 0){let r=this.constructor;if(s===!1&&(i=this[n]),t??=r.getPropertyOptions(n),!((t.hasChanged??Ln)(i,e)||t.useDefault&&t.reflect&&i===this._$Ej?.get(n)&&!this.hasAttribute(r._$Eu(n,t))))return;this.C(n,e,t)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(n,e,{useDefault:t,reflect:s,wrapped:i},r){t&&!(this._$Ej??=new Map).has(n)&&(this._$Ej.set(n,r??e??this[n]),i!==!0||r!==void 0)||(this._$AL.has(n)||(this.hasUpdated||t||(e=void 0),this._$AL.set(n,e)),s===!0&&this._$Em!==n&&(this._$Eq??=new Set).add(n))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(e){Promise.reject(e)}let n=this.scheduleUpdate();return n!=null&&await n,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[s,i]of this._$Ep)this[s]=i;this._$Ep=void 0}let t=this.constructor.elementProperties;if(t.size>0)for(let[s,i]of t){let{wrapped:r}=i,a=this[s];r!==!0||this._$AL.has(s)||a===void 0||this.C(s,void 0,i,a)}}let n=!1,e=this._$AL;try{n=this.shouldUpdate(e),n?(this.willUpdate(e),this._$EO?.forEach(t=>t.hostUpdate?.()),this.update(e)):this._$EM()}catch(t){throw n=!1,this._$EM(),t}n&&this._$AE(e)}willUpdate(n){}_$AE(n){this._$EO?.forEach(e=>e.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(n)),this.updated(n)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(n){return!0}update(n){this._$Eq&&=this._$Eq.forEach(e=>this._$ET(e,this[e])),this._$EM()}updated(n){}firstUpdated(n){}};we.elementStyles=[],we.shadowRootOptions={mode:"open"},we[Ye("elementProperties")]=new Map,we[Ye("finalized")]=new Map,Os?.({ReactiveElement:we}),(gt.reactiveElementVersions??=[]).push("2.1.2");var Wt=globalThis,Tn=o=>o,vt=Wt.trustedTypes,zn=vt?vt.createPolicy("lit-html",{createHTML:o=>o}):void 0,Wn="$lit$",Ae=`lit$${Math.random().toFixed(9).slice(2)}$`,Hn="?"+Ae,Ds=`<${Hn}>`,ze=document,Xe=()=>ze.createComment(""),et=o=>o===null||typeof o!="object"&&typeof o!="function",Ht=Array.isArray,qs=o=>Ht(o)||typeof o?.[Symbol.iterator]=="function",zt=`[ 	
\f\r]`,Qe=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,Cn=/-->/g,Rn=/>/g,Le=RegExp(`>|${zt}(?:([^\\s"'>=/]+)(${zt}*=${zt}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),In=/'/g,Un=/"/g,Bn=/^(?:script|style|textarea|title)$/i,Bt=o=>(n,...e)=>({_$litType$:o,strings:n,values:e}),f=Bt(1),ee=Bt(2),Vi=Bt(3),Ce=Symbol.for("lit-noChange"),b=Symbol.for("lit-nothing"),Pn=new WeakMap,Te=ze.createTreeWalker(ze,129);function _n(o,n){if(!Ht(o)||!o.hasOwnProperty("raw"))throw Error("invalid template strings array");return zn!==void 0?zn.createHTML(n):n}var js=(o,n)=>{let e=o.length-1,t=[],s,i=n===2?"<svg>":n===3?"<math>":"",r=Qe;for(let a=0;a<e;a++){let l=o[a],c,h,p=-1,u=0;for(;u<l.length&&(r.lastIndex=u,h=r.exec(l),h!==null);)u=r.lastIndex,r===Qe?h[1]==="!--"?r=Cn:h[1]!==void 0?r=Rn:h[2]!==void 0?(Bn.test(h[2])&&(s=RegExp("</"+h[2],"g")),r=Le):h[3]!==void 0&&(r=Le):r===Le?h[0]===">"?(r=s??Qe,p=-1):h[1]===void 0?p=-2:(p=r.lastIndex-h[2].length,c=h[1],r=h[3]===void 0?Le:h[3]==='"'?Un:In):r===Un||r===In?r=Le:r===Cn||r===Rn?r=Qe:(r=Le,s=void 0);let d=r===Le&&o[a+1].startsWith("/>")?" ":"";i+=r===Qe?l+Ds:p>=0?(t.push(c),l.slice(0,p)+Wn+l.slice(p)+Ae+d):l+Ae+(p===-2?a:d)}return[_n(o,i+(o[e]||"<?>")+(n===2?"</svg>":n===3?"</math>":"")),t]},tt=class o{constructor({strings:n,_$litType$:e},t){let s;this.parts=[];let i=0,r=0,a=n.length-1,l=this.parts,[c,h]=js(n,e);if(this.el=o.createElement(c,t),Te.currentNode=this.el.content,e===2||e===3){let p=this.el.content.firstChild;p.replaceWith(...p.childNodes)}for(;(s=Te.nextNode())!==null&&l.length<a;){if(s.nodeType===1){if(s.hasAttributes())for(let p of s.getAttributeNames())if(p.endsWith(Wn)){let u=h[r++],d=s.getAttribute(p).split(Ae),g=/([.?@])?(.*)/.exec(u);l.push({type:1,index:i,name:g[2],strings:d,ctor:g[1]==="."?Rt:g[1]==="?"?It:g[1]==="@"?Ut:_e}),s.removeAttribute(p)}else p.startsWith(Ae)&&(l.push({type:6,index:i}),s.removeAttribute(p));if(Bn.test(s.tagName)){let p=s.textContent.split(Ae),u=p.length-1;if(u>0){s.textContent=vt?vt.emptyScript:"";for(let d=0;d<u;d++)s.append(p[d],Xe()),Te.nextNode(),l.push({type:2,index:++i});s.append(p[u],Xe())}}}else if(s.nodeType===8)if(s.data===Hn)l.push({type:2,index:i});else{let p=-1;for(;(p=s.data.indexOf(Ae,p+1))!==-1;)l.push({type:7,index:i}),p+=Ae.length-1}i++}}static createElement(n,e){let t=ze.createElement("template");return t.innerHTML=n,t}};function Be(o,n,e=o,t){if(n===Ce)return n;let s=t!==void 0?e._$Co?.[t]:e._$Cl,i=et(n)?void 0:n._$litDirective$;return s?.constructor!==i&&(s?._$AO?.(!1),i===void 0?s=void 0:(s=new i(o),s._$AT(o,e,t)),t!==void 0?(e._$Co??=[])[t]=s:e._$Cl=s),s!==void 0&&(n=Be(o,s._$AS(o,n.values),s,t)),n}var Ct=class{constructor(n,e){this._$AV=[],this._$AN=void 0,this._$AD=n,this._$AM=e}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(n){let{el:{content:e},parts:t}=this._$AD,s=(n?.creationScope??ze).importNode(e,!0);Te.currentNode=s;let i=Te.nextNode(),r=0,a=0,l=t[0];for(;l!==void 0;){if(r===l.index){let c;l.type===2?c=new nt(i,i.nextSibling,this,n):l.type===1?c=new l.ctor(i,l.name,l.strings,this,n):l.type===6&&(c=new Pt(i,this,n)),this._$AV.push(c),l=t[++a]}r!==l?.index&&(i=Te.nextNode(),r++)}return Te.currentNode=ze,s}p(n){let e=0;for(let t of this._$AV)t!==void 0&&(t.strings!==void 0?(t._$AI(n,t,e),e+=t.strings.length-2):t._$AI(n[e])),e++}},nt=class o{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(n,e,t,s){this.type=2,this._$AH=b,this._$AN=void 0,this._$AA=n,this._$AB=e,this._$AM=t,this.options=s,this._$Cv=s?.isConnected??!0}get parentNode(){let n=this._$AA.parentNode,e=this._$AM;return e!==void 0&&n?.nodeType===11&&(n=e.parentNode),n}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(n,e=this){n=Be(this,n,e),et(n)?n===b||n==null||n===""?(this._$AH!==b&&this._$AR(),this._$AH=b):n!==this._$AH&&n!==Ce&&this._(n):n._$litType$!==void 0?this.$(n):n.nodeType!==void 0?this.T(n):qs(n)?this.k(n):this._(n)}O(n){return this._$AA.parentNode.insertBefore(n,this._$AB)}T(n){this._$AH!==n&&(this._$AR(),this._$AH=this.O(n))}_(n){this._$AH!==b&&et(this._$AH)?this._$AA.nextSibling.data=n:this.T(ze.createTextNode(n)),this._$AH=n}$(n){let{values:e,_$litType$:t}=n,s=typeof t=="number"?this._$AC(n):(t.el===void 0&&(t.el=tt.createElement(_n(t.h,t.h[0]),this.options)),t);if(this._$AH?._$AD===s)this._$AH.p(e);else{let i=new Ct(s,this),r=i.u(this.options);i.p(e),this.T(r),this._$AH=i}}_$AC(n){let e=Pn.get(n.strings);return e===void 0&&Pn.set(n.strings,e=new tt(n)),e}k(n){Ht(this._$AH)||(this._$AH=[],this._$AR());let e=this._$AH,t,s=0;for(let i of n)s===e.length?e.push(t=new o(this.O(Xe()),this.O(Xe()),this,this.options)):t=e[s],t._$AI(i),s++;s<e.length&&(this._$AR(t&&t._$AB.nextSibling,s),e.length=s)}_$AR(n=this._$AA.nextSibling,e){for(this._$AP?.(!1,!0,e);n!==this._$AB;){let t=Tn(n).nextSibling;Tn(n).remove(),n=t}}setConnected(n){this._$AM===void 0&&(this._$Cv=n,this._$AP?.(n))}},_e=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(n,e,t,s,i){this.type=1,this._$AH=b,this._$AN=void 0,this.element=n,this.name=e,this._$AM=s,this.options=i,t.length>2||t[0]!==""||t[1]!==""?(this._$AH=Array(t.length-1).fill(new String),this.strings=t):this._$AH=b}_$AI(n,e=this,t,s){let i=this.strings,r=!1;if(i===void 0)n=Be(this,n,e,0),r=!et(n)||n!==this._$AH&&n!==Ce,r&&(this._$AH=n);else{let a=n,l,c;for(n=i[0],l=0;l<i.length-1;l++)c=Be(this,a[t+l],e,l),c===Ce&&(c=this._$AH[l]),r||=!et(c)||c!==this._$AH[l],c===b?n=b:n!==b&&(n+=(c??"")+i[l+1]),this._$AH[l]=c}r&&!s&&this.j(n)}j(n){n===b?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,n??"")}},Rt=class extends _e{constructor(){super(...arguments),this.type=3}j(n){this.element[this.name]=n===b?void 0:n}},It=class extends _e{constructor(){super(...arguments),this.type=4}j(n){this.element.toggleAttribute(this.name,!!n&&n!==b)}},Ut=class extends _e{constructor(n,e,t,s,i){super(n,e,t,s,i),this.type=5}_$AI(n,e=this){if((n=Be(this,n,e,0)??b)===Ce)return;let t=this._$AH,s=n===b&&t!==b||n.capture!==t.capture||n.once!==t.once||n.passive!==t.passive,i=n!==b&&(t===b||s);s&&this.element.removeEventListener(this.name,this,t),i&&this.element.addEventListener(this.name,this,n),this._$AH=n}handleEvent(n){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,n):this._$AH.handleEvent(n)}},Pt=class{constructor(n,e,t){this.element=n,this.type=6,this._$AN=void 0,this._$AM=e,this.options=t}get _$AU(){return this._$AM._$AU}_$AI(n){Be(this,n)}};var Fs=Wt.litHtmlPolyfillSupport;Fs?.(tt,nt),(Wt.litHtmlVersions??=[]).push("3.3.3");var Nn=(o,n,e)=>{let t=e?.renderBefore??n,s=t._$litPart$;if(s===void 0){let i=e?.renderBefore??null;t._$litPart$=s=new nt(n.insertBefore(Xe(),i),i,void 0,e??{})}return s._$AI(o),s};var _t=globalThis,me=class extends we{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let n=super.createRenderRoot();return this.renderOptions.renderBefore??=n.firstChild,n}update(n){let e=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(n),this._$Do=Nn(e,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return Ce}};me._$litElement$=!0,me.finalized=!0,_t.litElementHydrateSupport?.({LitElement:me});var Vs=_t.litElementPolyfillSupport;Vs?.({LitElement:me});(_t.litElementVersions??=[]).push("4.2.2");var[On,bt,Nt]=[26,34,16];function Dn(o){let n=o.filter(v=>v.instructions>0),e=new Set(n.map(v=>v.index)),t=v=>{for(let y=o.find(M=>M.index===v);y&&y.instructions===0;y=o.find(M=>M.index===v)){if(y.next.length===0||y.next[0]<0||y.next[0]===v)return-1;v=y.next[0]}return e.has(v)?v:-1},s=new Map(n.map(v=>[v.index,[...new Set(v.next.map(t))]])),i=new Map,r=new Set,a=[],l=v=>{i.set(v,1);for(let y of s.get(v)??[])y<0||(i.get(y)===1?r.add(`${v} ${y}`):i.has(y)||l(y));i.set(v,2),a.unshift(v)};for(let v of n)i.has(v.index)||l(v.index);let c=new Map;for(let v of a){c.set(v,c.get(v)??0);for(let y of s.get(v)??[])y>=0&&!r.has(`${v} ${y}`)&&c.set(y,Math.max(c.get(y)??0,c.get(v)+1))}let h=[];for(let v of n)(h[c.get(v.index)]??=[]).push(v.index);let p=new Map;h.forEach(v=>v.forEach((y,M)=>p.set(y,M-(v.length-1)/2)));for(let v=0;v<2;v++)for(let y of h.slice(1)){let M=L=>{let P=n.filter(B=>s.get(B.index).includes(L)&&!r.has(`${B.index} ${L}`)).map(B=>p.get(B.index));return P.length?P.reduce((B,J)=>B+J,0)/P.length:p.get(L)},S=new Map(y.map(L=>[L,M(L)]));y.sort((L,P)=>S.get(L)-S.get(P)||L-P),y.forEach((L,P)=>p.set(L,P-(y.length-1)/2))}let u=Math.max(1,...h.map(v=>v.length)),d=r.size,g=n.some(v=>s.get(v.index).some(y=>y>=0&&c.get(y)-c.get(v.index)>1))?1:0,A=14+Math.max(d,g*2)*Nt,m=u*(132+On)+2*A,x=m/2,k=new Map;h.forEach((v,y)=>v.forEach(M=>k.set(M,{block:M,x:x+p.get(M)*(132+On),y:8+y*(44+bt)})));let w=[],$=0,E=0;for(let v of n){let[y,M]=[k.get(v.index),s.get(v.index)],S=M.map(L=>k.get(L)?.x??-1/0).sort((L,P)=>L-P);M.forEach(L=>{let P=S.indexOf(k.get(L)?.x??-1/0),B=y.x+(P-(M.length-1)/2)*28,J=y.y+44;if(L<0){w.push({from:v.index,to:-1,back:!1,path:`M${B} ${J}v14`});return}let _=k.get(L);if(r.has(`${v.index} ${L}`)){let q=Math.max(...[...k.values()].filter(D=>D.y>=_.y&&D.y<=y.y).map(D=>D.x))+66+10+Nt*$++,O=y.x+132/2;w.push({from:v.index,to:L,back:!0,path:`M${O} ${y.y+44/2}H${q-6}q6 0 6 -6V${_.y+44/2+6}q0 -6 -6 -6H${_.x+132/2+5}`})}else if(c.get(L)-c.get(v.index)>1&&[...k.values()].some(q=>q.y>y.y&&q.y<_.y&&Math.abs(q.x-(B+_.x)/2)<132/2+4)){let q=Math.min(...[...k.values()].filter(O=>O.y>=y.y&&O.y<=_.y).map(O=>O.x))-66-10-Nt*E++;w.push({from:v.index,to:L,back:!1,path:`M${y.x-132/2} ${y.y+44/2}H${q+6}q-6 0 -6 6V${_.y-20}q0 6 6 6H${_.x-26}q6 0 6 6V${_.y-5}`})}else{let q=_.y-5,O=_.x+Math.max(-14,Math.min(14,B-_.x));w.push({from:v.index,to:L,back:!1,path:`M${B} ${J}C${B} ${J+bt*.7} ${O} ${q-bt*.7} ${O} ${q}`})}})}return{boxes:[...k.values()],edges:w,width:m,height:h.length*(44+bt)+8}}var j={lo:0,hi:0};function F(o,n=0){return{lo:o>>>0,hi:n>>>0}}function I(o,n){return((n<32?o.lo>>>n:o.hi>>>n-32)&1)===1}var xe=(o,n)=>F(o.lo&n.lo,o.hi&n.hi),G=(o,n)=>F(o.lo|n.lo,o.hi|n.hi),W=(o,n)=>F(o.lo&~n.lo,o.hi&~n.hi),he=(o,n)=>o.lo>>>0===n.lo>>>0&&o.hi>>>0===n.hi>>>0,z=o=>(o.lo|o.hi)===0;function qn(o){return o-=o>>>1&1431655765,o=(o&858993459)+(o>>>2&858993459),(o+(o>>>4)&252645135)*16843009>>>24}var U=o=>qn(o.lo)+qn(o.hi);function Q(o){let n=[];for(let e=0;e<64;e++)I(o,e)&&n.push(e);return n}function Ne(o){let[n,e]=[0,0];for(let t of o)t<32?n|=1<<t:e|=1<<t-32;return F(n,e)}function Gs(o){let n=[];for(let e=0;e<64;e++){if(!I(o,e))continue;let t=e;for(;t<63&&I(o,t+1);)t++;n.push(t===e?`${e}`:t===e+1?`${e}, ${t}`:`${e}–${t}`),e=t}return n.join(", ")}function Ks(o,n){let e=xe(n,F(1431655765,1431655765));if(U(o)>=3&&he(o,e))return"even";if(U(o)>=3&&he(o,W(n,e)))return"odd"}function H(o,n){let e=U(o);if(e===0)return"no lane";if(e>1&&he(o,n))return`all ${e} lanes`;let t=Ks(o,n);if(t)return`the ${t} lanes`;let s=Gs(o);if(e===1)return`lane ${s}`;let i=s.split(", ");return i.length>6?`${e} lanes (${i.slice(0,4).join(", ")}, …)`:`lanes ${s}`}var X=Uint8Array,ae=Uint16Array,Kt=Int32Array,wt=new X([0,0,0,0,0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4,5,5,5,5,0,0,0,0]),xt=new X([0,0,0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7,8,8,9,9,10,10,11,11,12,12,13,13,0,0]),jt=new X([16,17,18,0,8,7,9,6,10,5,11,4,12,3,13,2,14,1,15]),Gn=function(o,n){for(var e=new ae(31),t=0;t<31;++t)e[t]=n+=1<<o[t-1];for(var s=new Kt(e[30]),t=1;t<30;++t)for(var i=e[t];i<e[t+1];++i)s[i]=i-e[t]<<5|t;return{b:e,r:s}},Kn=Gn(wt,2),Zn=Kn.b,Ft=Kn.r;Zn[28]=258,Ft[258]=28;var Jn=Gn(xt,0),Zs=Jn.b,jn=Jn.r,Vt=new ae(32768);for(N=0;N<32768;++N)ye=(N&43690)>>1|(N&21845)<<1,ye=(ye&52428)>>2|(ye&13107)<<2,ye=(ye&61680)>>4|(ye&3855)<<4,Vt[N]=((ye&65280)>>8|(ye&255)<<8)>>1;var ye,N,ge=(function(o,n,e){for(var t=o.length,s=0,i=new ae(n);s<t;++s)o[s]&&++i[o[s]-1];var r=new ae(n);for(s=1;s<n;++s)r[s]=r[s-1]+i[s-1]<<1;var a;if(e){a=new ae(1<<n);var l=15-n;for(s=0;s<t;++s)if(o[s])for(var c=s<<4|o[s],h=n-o[s],p=r[o[s]-1]++<<h,u=p|(1<<h)-1;p<=u;++p)a[Vt[p]>>l]=c}else for(a=new ae(t),s=0;s<t;++s)o[s]&&(a[s]=Vt[r[o[s]-1]++]>>15-o[s]);return a}),Me=new X(288);for(N=0;N<144;++N)Me[N]=8;var N;for(N=144;N<256;++N)Me[N]=9;var N;for(N=256;N<280;++N)Me[N]=7;var N;for(N=280;N<288;++N)Me[N]=8;var N,rt=new X(32);for(N=0;N<32;++N)rt[N]=5;var N,Js=ge(Me,9,0),Ys=ge(Me,9,1),Qs=ge(rt,5,0),Xs=ge(rt,5,1),Ot=function(o){for(var n=o[0],e=1;e<o.length;++e)o[e]>n&&(n=o[e]);return n},ue=function(o,n,e){var t=n/8|0;return(o[t]|o[t+1]<<8)>>(n&7)&e},Dt=function(o,n){var e=n/8|0;return(o[e]|o[e+1]<<8|o[e+2]<<16)>>(n&7)},Zt=function(o){return(o+7)/8|0},Yn=function(o,n,e){return(n==null||n<0)&&(n=0),(e==null||e>o.length)&&(e=o.length),new X(o.subarray(n,e))};var ei=["unexpected EOF","invalid block type","invalid length/literal","invalid distance","stream finished","no stream handler",,"no callback","invalid UTF-8 data","extra field too long","date not in range 1980-2099","filename too long","stream finishing","invalid zip data"],ke=function(o,n,e){var t=new Error(n||ei[o]);if(t.code=o,Error.captureStackTrace&&Error.captureStackTrace(t,ke),!e)throw t;return t},ti=function(o,n,e,t){var s=o.length,i=t?t.length:0;if(!s||n.f&&!n.l)return e||new X(0);var r=!e,a=r||n.i!=2,l=n.i;r&&(e=new X(s*3));var c=function(Ke){var Ze=e.length;if(Ke>Ze){var He=new X(Math.max(Ze*2,Ke));He.set(e),e=He}},h=n.f||0,p=n.p||0,u=n.b||0,d=n.l,g=n.d,A=n.m,m=n.n,x=s*8;do{if(!d){h=ue(o,p,1);var k=ue(o,p+1,3);if(p+=3,k)if(k==1)d=Ys,g=Xs,A=9,m=5;else if(k==2){var v=ue(o,p,31)+257,y=ue(o,p+10,15)+4,M=v+ue(o,p+5,31)+1;p+=14;for(var S=new X(M),L=new X(19),P=0;P<y;++P)L[jt[P]]=ue(o,p+P*3,7);p+=y*3;for(var B=Ot(L),J=(1<<B)-1,_=ge(L,B,1),P=0;P<M;){var q=_[ue(o,p,J)];p+=q&15;var w=q>>4;if(w<16)S[P++]=w;else{var O=0,D=0;for(w==16?(D=3+ue(o,p,3),p+=2,O=S[P-1]):w==17?(D=3+ue(o,p,7),p+=3):w==18&&(D=11+ue(o,p,127),p+=7);D--;)S[P++]=O}}var T=S.subarray(0,v),R=S.subarray(v);A=Ot(T),m=Ot(R),d=ge(T,A,1),g=ge(R,m,1)}else ke(1);else{var w=Zt(p)+4,$=o[w-4]|o[w-3]<<8,E=w+$;if(E>s){l&&ke(0);break}a&&c(u+$),e.set(o.subarray(w,E),u),n.b=u+=$,n.p=p=E*8,n.f=h;continue}if(p>x){l&&ke(0);break}}a&&c(u+131072);for(var ce=(1<<A)-1,Y=(1<<m)-1,be=p;;be=p){var O=d[Dt(o,p)&ce],re=O>>4;if(p+=O&15,p>x){l&&ke(0);break}if(O||ke(2),re<256)e[u++]=re;else if(re==256){be=p,d=null;break}else{var oe=re-254;if(re>264){var P=re-257,V=wt[P];oe=ue(o,p,(1<<V)-1)+Zn[P],p+=V}var fe=g[Dt(o,p)&Y],Pe=fe>>4;fe||ke(3),p+=fe&15;var R=Zs[Pe];if(Pe>3){var V=xt[Pe];R+=Dt(o,p)&(1<<V)-1,p+=V}if(p>x){l&&ke(0);break}a&&c(u+131072);var We=u+oe;if(u<R){var pt=i-R,dt=Math.min(R,We);for(pt+u<0&&ke(3);u<dt;++u)e[u]=t[pt+u]}for(;u<We;++u)e[u]=e[u-R]}}n.l=d,n.p=be,n.b=u,n.f=h,d&&(h=1,n.m=A,n.d=g,n.n=m)}while(!h);return u!=e.length&&r?Yn(e,0,u):e.subarray(0,u)},$e=function(o,n,e){e<<=n&7;var t=n/8|0;o[t]|=e,o[t+1]|=e>>8},st=function(o,n,e){e<<=n&7;var t=n/8|0;o[t]|=e,o[t+1]|=e>>8,o[t+2]|=e>>16},qt=function(o,n){for(var e=[],t=0;t<o.length;++t)o[t]&&e.push({s:t,f:o[t]});var s=e.length,i=e.slice();if(!s)return{t:Xn,l:0};if(s==1){var r=new X(e[0].s+1);return r[e[0].s]=1,{t:r,l:1}}e.sort(function(E,v){return E.f-v.f}),e.push({s:-1,f:25001});var a=e[0],l=e[1],c=0,h=1,p=2;for(e[0]={s:-1,f:a.f+l.f,l:a,r:l};h!=s-1;)a=e[e[c].f<e[p].f?c++:p++],l=e[c!=h&&e[c].f<e[p].f?c++:p++],e[h++]={s:-1,f:a.f+l.f,l:a,r:l};for(var u=i[0].s,t=1;t<s;++t)i[t].s>u&&(u=i[t].s);var d=new ae(u+1),g=Gt(e[h-1],d,0);if(g>n){var t=0,A=0,m=g-n,x=1<<m;for(i.sort(function(v,y){return d[y.s]-d[v.s]||v.f-y.f});t<s;++t){var k=i[t].s;if(d[k]>n)A+=x-(1<<g-d[k]),d[k]=n;else break}for(A>>=m;A>0;){var w=i[t].s;d[w]<n?A-=1<<n-d[w]++-1:++t}for(;t>=0&&A;--t){var $=i[t].s;d[$]==n&&(--d[$],++A)}g=n}return{t:new X(d),l:g}},Gt=function(o,n,e){return o.s==-1?Math.max(Gt(o.l,n,e+1),Gt(o.r,n,e+1)):n[o.s]=e},Fn=function(o){for(var n=o.length;n&&!o[--n];);for(var e=new ae(++n),t=0,s=o[0],i=1,r=function(l){e[t++]=l},a=1;a<=n;++a)if(o[a]==s&&a!=n)++i;else{if(!s&&i>2){for(;i>138;i-=138)r(32754);i>2&&(r(i>10?i-11<<5|28690:i-3<<5|12305),i=0)}else if(i>3){for(r(s),--i;i>6;i-=6)r(8304);i>2&&(r(i-3<<5|8208),i=0)}for(;i--;)r(s);i=1,s=o[a]}return{c:e.subarray(0,t),n}},it=function(o,n){for(var e=0,t=0;t<n.length;++t)e+=o[t]*n[t];return e},Qn=function(o,n,e){var t=e.length,s=Zt(n+2);o[s]=t&255,o[s+1]=t>>8,o[s+2]=o[s]^255,o[s+3]=o[s+1]^255;for(var i=0;i<t;++i)o[s+i+4]=e[i];return(s+4+t)*8},Vn=function(o,n,e,t,s,i,r,a,l,c,h){$e(n,h++,e),++s[256];for(var p=qt(s,15),u=p.t,d=p.l,g=qt(i,15),A=g.t,m=g.l,x=Fn(u),k=x.c,w=x.n,$=Fn(A),E=$.c,v=$.n,y=new ae(19),M=0;M<k.length;++M)++y[k[M]&31];for(var M=0;M<E.length;++M)++y[E[M]&31];for(var S=qt(y,7),L=S.t,P=S.l,B=19;B>4&&!L[jt[B-1]];--B);var J=c+5<<3,_=it(s,Me)+it(i,rt)+r,q=it(s,u)+it(i,A)+r+14+3*B+it(y,L)+2*y[16]+3*y[17]+7*y[18];if(l>=0&&J<=_&&J<=q)return Qn(n,h,o.subarray(l,l+c));var O,D,T,R;if($e(n,h,1+(q<_)),h+=2,q<_){O=ge(u,d,0),D=u,T=ge(A,m,0),R=A;var ce=ge(L,P,0);$e(n,h,w-257),$e(n,h+5,v-1),$e(n,h+10,B-4),h+=14;for(var M=0;M<B;++M)$e(n,h+3*M,L[jt[M]]);h+=3*B;for(var Y=[k,E],be=0;be<2;++be)for(var re=Y[be],M=0;M<re.length;++M){var oe=re[M]&31;$e(n,h,ce[oe]),h+=L[oe],oe>15&&($e(n,h,re[M]>>5&127),h+=re[M]>>12)}}else O=Js,D=Me,T=Qs,R=rt;for(var M=0;M<a;++M){var V=t[M];if(V>255){var oe=V>>18&31;st(n,h,O[oe+257]),h+=D[oe+257],oe>7&&($e(n,h,V>>23&31),h+=wt[oe]);var fe=V&31;st(n,h,T[fe]),h+=R[fe],fe>3&&(st(n,h,V>>5&8191),h+=xt[fe])}else st(n,h,O[V]),h+=D[V]}return st(n,h,O[256]),h+D[256]},ni=new Kt([65540,131080,131088,131104,262176,1048704,1048832,2114560,2117632]),Xn=new X(0),si=function(o,n,e,t,s,i){var r=i.z||o.length,a=new X(t+r+5*(1+Math.ceil(r/7e3))+s),l=a.subarray(t,a.length-s),c=i.l,h=(i.r||0)&7;if(n){h&&(l[0]=i.r>>3);for(var p=ni[n-1],u=p>>13,d=p&8191,g=(1<<e)-1,A=i.p||new ae(32768),m=i.h||new ae(g+1),x=Math.ceil(e/3),k=2*x,w=function(Et){return(o[Et]^o[Et+1]<<x^o[Et+2]<<k)&g},$=new Kt(25e3),E=new ae(288),v=new ae(32),y=0,M=0,S=i.i||0,L=0,P=i.w||0,B=0;S+2<r;++S){var J=w(S),_=S&32767,q=m[J];if(A[_]=q,m[J]=_,P<=S){var O=r-S;if((y>7e3||L>24576)&&(O>423||!c)){h=Vn(o,l,0,$,E,v,M,L,B,S-B,h),L=y=M=0,B=S;for(var D=0;D<286;++D)E[D]=0;for(var D=0;D<30;++D)v[D]=0}var T=2,R=0,ce=d,Y=_-q&32767;if(O>2&&J==w(S-Y))for(var be=Math.min(u,O)-1,re=Math.min(32767,S),oe=Math.min(258,O);Y<=re&&--ce&&_!=q;){if(o[S+T]==o[S+T-Y]){for(var V=0;V<oe&&o[S+V]==o[S+V-Y];++V);if(V>T){if(T=V,R=Y,V>be)break;for(var fe=Math.min(Y,V-2),Pe=0,D=0;D<fe;++D){var We=S-Y+D&32767,pt=A[We],dt=We-pt&32767;dt>Pe&&(Pe=dt,q=We)}}}_=q,q=A[_],Y+=_-q&32767}if(R){$[L++]=268435456|Ft[T]<<18|jn[R];var Ke=Ft[T]&31,Ze=jn[R]&31;M+=wt[Ke]+xt[Ze],++E[257+Ke],++v[Ze],P=S+T,++y}else $[L++]=o[S],++E[o[S]]}}for(S=Math.max(S,P);S<r;++S)$[L++]=o[S],++E[o[S]];h=Vn(o,l,c,$,E,v,M,L,B,S-B,h),c||(i.r=h&7|l[h/8|0]<<3,h-=7,i.h=m,i.p=A,i.i=S,i.w=P)}else{for(var S=i.w||0;S<r+c;S+=65535){var He=S+65535;He>=r&&(l[h/8|0]=c,He=r),h=Qn(l,h+1,o.subarray(S,He))}i.i=r}return Yn(a,0,t+Zt(h)+s)};var ii=function(o,n,e,t,s){if(!s&&(s={l:1},n.dictionary)){var i=n.dictionary.subarray(-32768),r=new X(i.length+o.length);r.set(i),r.set(o,i.length),o=r,s.w=i.length}return si(o,n.level==null?6:n.level,n.mem==null?s.l?Math.ceil(Math.max(8,Math.min(13,Math.log(o.length)))*1.5):20:12+n.mem,e,t,s)};function es(o,n){return ii(o,n||{},0,0)}function yt(o,n){return ti(o,{i:2},n&&n.out,n&&n.dictionary)}var ri=typeof TextDecoder<"u"&&new TextDecoder,oi=0;try{ri.decode(Xn,{stream:!0}),oi=1}catch{}var C=class extends Error{constructor(e,t){super(`at byte ${e}: ${t}`);this.offset=e;this.name="RecordingError"}},ts="gemurec",ns=1,ss=2,Oe=32,Jt=24,ai=65535,$t=65534,is=64<<20,li=1<<20,ci=1<<22,rs=65536,hi=4*258,ui=512<<20,pi={u8:Uint8Array,u16:Uint16Array,u32:Uint32Array,i8:Int8Array,i16:Int16Array,i32:Int32Array},Yt={u8:1,u16:2,u32:4,u64:8,i8:1,i16:2,i32:4,i64:8,text:8};var di=(()=>{let o=new Uint32Array(256);for(let n=0;n<256;n++){let e=n;for(let t=0;t<8;t++)e=e&1?3988292384^e>>>1:e>>>1;o[n]=e}return o})();function os(...o){let n=4294967295;for(let e of o)for(let t=0;t<e.length;t++)n=di[(n^e[t])&255]^n>>>8;return(n^4294967295)>>>0}var kt=class{constructor(n,e){this.name=n;this.file=e;this.columns=[];this.rows=0;this.blocks=[];this.decoded=new Map}numbers(n){return this.column(n,e=>e!=="text"&&Yt[e]<=4,()=>new Uint8Array(this.rows))}wide(n){return this.column(n,e=>e==="u64"||e==="i64",()=>({lo:new Uint32Array(this.rows),hi:new Uint32Array(this.rows)}))}counts(n){let{lo:e,hi:t}=this.wide(n),s=new Float64Array(e.length);for(let i=0;i<s.length;i++){if(t[i]>=1<<21)throw new C(this.blocks[0].offset,`column ${n} of table ${this.name} has a number that is too large`);s[i]=t[i]*2**32+e[i]}return s}texts(n){return this.column(n,e=>e==="text",()=>new Array(this.rows).fill(""))}column(n,e,t){let s=this.decoded.get(n),i=this.columns.findIndex(a=>a.name===n),r=i<0?void 0:this.columns[i].type;if(r!==void 0&&!e(r))throw new C(this.blocks[0]?.offset??0,`column ${n} of table ${this.name} has the type ${r}, which does not fit its use`);return s===void 0&&(this.file.reserve(this.rows*(r?Yt[r]:8)),s=r===void 0?t():this.decode(i,r),this.decoded.set(n,s)),s}decode(n,e){if(e==="text"){let s=[];for(let i of this.blocks)this.file.decodeTexts(i,n,s);return s}let t={lo:new Uint32Array(this.rows),hi:new Uint32Array(e==="u64"||e==="i64"?this.rows:0)};for(let s of this.blocks)this.file.decodeNumbers(s,n,t);return e==="u64"||e==="i64"?t:e==="u32"?t.lo:new pi[e](t.lo)}},Ee=class{constructor(n){this.bytes=n;this.tables=new Map;this.reserved=0;if(this.view=new DataView(n.buffer,n.byteOffset,n.byteLength),n.length<8||this.ascii(0,7)!==ts)throw new C(0,"this is not a recording of gemu");if(this.version=n[7],this.version<ns||this.version>ss)throw new C(0,`the recording has format version ${this.version}; this page reads versions ${ns} to ${ss}`);let{complete:e,offsets:t}=this.readDirectory();this.complete=e;let s=t.map(r=>this.readHeader(r));if(s.length===0)throw new C(8,"the recording ends before its first block");this.readSchema(s[0]);let i=[...this.tables.values()];for(let r of s.slice(1)){let a=i[r.table];if(a===void 0)throw new C(r.offset,`a block belongs to the unknown table ${r.table}`);if(r.first!==a.rows||r.columns.length!==a.columns.length)throw new C(r.offset,`a block of the table ${a.name} does not continue the blocks before it`);a.rows+=r.rows,a.blocks.push(r)}}table(n){return this.tables.get(n)??new kt(n,this)}names(n,e){let t=this.table("enumerations");if(t.rows>65536)throw new C(t.blocks[0].offset,"the table enumerations has too many rows");let[s,i,r,a]=[t.texts("table"),t.texts("column"),t.numbers("value"),t.texts("name")],l=[];for(let c=0;c<s.length;c++)s[c]===n&&i[c]===e&&(l[r[c]]=a[c]);return l}reserve(n){if(this.reserved+=n,this.reserved>ui)throw new C(0,"the recording is too large for the page: record fewer events (--max-events), or a part (--cta, --warps)")}ascii(n,e){return String.fromCharCode(...this.bytes.subarray(n,n+e))}count(n){let e=this.view.getUint32(n+4,!0);return e>=1<<21?1/0:e*2**32+this.view.getUint32(n,!0)}readDirectory(){let n=this.bytes.length;if(n>=24&&this.ascii(n-8,8)===ts+`
`){let t=this.count(n-16),s=this.readHeader(t);if(s.table!==$t||s.columns.length!==4)throw new C(t,"the directory is missing at the place that the end of the file states");if(s.rows>n/Oe)throw new C(t,"the directory has more blocks than the file has room for");let i={lo:new Uint32Array(s.rows),hi:new Uint32Array(s.rows)};return this.decodeNumbers(s,0,i),{complete:!0,offsets:Array.from(i.lo,(r,a)=>i.hi[a]*2**32+r)}}let e=[];for(let t=8;;){let s;try{s=this.readHeader(t)}catch{break}if(s.table===$t)break;e.push(t),t=s.end}return{complete:!1,offsets:e}}readHeader(n){let{view:e,bytes:t}=this;if(!(n<=t.length-Oe))throw new C(Math.min(n,t.length),"the file ends in the header of a block");let s=e.getUint32(n+4,!0),i=e.getUint16(n+10,!0),r={offset:n,table:e.getUint16(n+8,!0),rows:e.getUint32(n+12,!0),first:this.count(n+16),columns:[],end:n+Oe+s};if(this.ascii(n,4)!=="gblk")throw new C(n,"no block header at this place");if(s>is||r.end>t.length)throw new C(n,"the file ends in a block");if(r.rows===0)throw new C(n,"a block has no rows");if(r.rows>(r.table===$t?ci:li)||i*Jt>s)throw new C(n,"a block has more rows or columns than its size allows");let a=n+Oe+i*Jt;if(os(t.subarray(n,n+24),t.subarray(n+Oe,a))!==e.getUint32(n+24,!0))throw new C(n,"the header of a block is damaged: its checksum is wrong");for(let l=0;l<i;l++){let c=n+Oe+l*Jt,h={encoding:t[c],width:t[c+1],flags:e.getUint16(c+2,!0),stored:e.getUint32(c+4,!0),plain:e.getUint32(c+8,!0),sum:e.getUint32(c+12,!0),baseLo:e.getUint32(c+16,!0),baseHi:e.getUint32(c+20,!0),at:a};if(a+h.stored>r.end||h.plain>is)throw new C(n,"a column is longer than its block");r.columns.push(h),a+=Math.ceil(h.stored/8)*8}return r}readSchema(n){if(n.table!==ai||n.columns.length!==3)throw new C(n.offset,"the first block must list the columns of the tables");if(n.rows>rs)throw new C(n.offset,`${n.rows} columns; a recording has at most ${rs}`);let[e,t,s]=[0,1,2].map(i=>{let r=[];return this.decodeTexts(n,i,r),r});e.forEach((i,r)=>{let a=this.tables.get(i);if(a===void 0&&this.tables.set(i,a=new kt(i,this)),!(s[r]in Yt))throw new C(n.offset,`column ${t[r]} of table ${i} has the unknown type ${JSON.stringify(s[r])}`);a.columns.push({name:t[r],type:s[r]})})}inflated(n,e,t){let s=a=>{throw new C(n.offset,a)};e.flags&-2&&s(`unknown flags ${e.flags} of a column`),e.encoding>3&&s(`unknown encoding ${e.encoding} of a column`),e.encoding===3!==t&&s("a column has values of another type than the schema states"),e.plain>hi*e.stored&&s("a column is larger than its stored bytes can hold"),t?e.plain<4*n.rows&&s("the size of a column of texts is wrong"):(e.encoding===0?e.plain!==0:![1,2,4,8].includes(e.width)||e.plain!==n.rows*e.width)&&s("the size of a column does not match its number of values");let i=this.bytes.subarray(e.at,e.at+e.stored);if(os(i)!==e.sum&&s("a column is damaged: its checksum is wrong"),!(e.flags&1))return e.stored!==e.plain&&s("the stored size of an uncompressed column differs from its size"),i;let r;try{r=yt(i,{out:new Uint8Array(e.plain+1)})}catch(a){return s(`a column cannot be decompressed: ${a.message}`)}return r.length!==e.plain&&s("a column has another size after decompression than its descriptor states"),r}decodeNumbers(n,e,t){let s=n.columns[e],i=this.inflated(n,s,!1),r=new DataView(i.buffer,i.byteOffset,i.byteLength),a=n.table===$t?0:n.first,l=t.hi.length>0,[c,h]=[s.baseLo,s.baseHi];if(s.encoding===0){t.lo.fill(c,a,a+n.rows),l&&t.hi.fill(h,a,a+n.rows);return}let p=s.encoding===2;for(let u=0,d=0;u<n.rows;u++,d+=s.width){let[g,A]=[0,0];switch(s.width){case 1:g=p?r.getInt8(d):i[d];break;case 2:g=p?r.getInt16(d,!0):r.getUint16(d,!0);break;default:g=p?r.getInt32(d,!0):r.getUint32(d,!0)}s.width===8?(A=r.getUint32(d+4,!0),g>>>=0):g<0&&(A=4294967295,g>>>=0);let m=(p?c:s.baseLo)+g,x=(p?h:s.baseHi)+A+(m>4294967295?1:0)>>>0;t.lo[a+u]=m,l&&(t.hi[a+u]=x),p&&([c,h]=[m>>>0,x])}}decodeTexts(n,e,t){let s=n.columns[e];this.reserve(s.plain);let i=this.inflated(n,s,!0),r=new DataView(i.buffer,i.byteOffset,i.byteLength),a=new TextDecoder,l=4*n.rows;for(let c=0;c<n.rows;c++){let h=r.getUint32(4*c,!0);if(h>i.length-l)throw new C(n.offset,"a text is longer than its column");t.push(a.decode(i.subarray(l,l+h))),l+=h}}};var fi=3,mi={class:"none",base:0n,stride:0n,lanes:0,few:!0};function ls(o,n,e){let t=Q(o);if(t.length===0)return mi;let s=t.map(e),i=t.length<fi,r=Math.min(n,64);if(s.every(u=>u===s[0]))return{class:"uniform",base:s[0],stride:0n,lanes:t.length,few:i};let a={class:"generic",base:0n,stride:0n,lanes:t.length,few:i};if(n===1||n>64)return a;let l=BigInt(t[1]-t[0]),c=BigInt.asIntN(r,s[1]-s[0]);if(c%l!==0n)return a;let h=c/l,p=BigInt.asUintN(r,s[0]-h*BigInt(t[0]));for(let u=1;u<t.length;u++)if(BigInt.asUintN(r,p+h*BigInt(t[u]))!==s[u])return a;return{class:"affine",base:p,stride:h,lanes:t.length,few:i}}var Qt=new DataView(new ArrayBuffer(8));function gi(o,n){if(Qt.setBigUint64(0,o,!0),n===32)return as(Qt.getFloat32(0,!0),7);if(n===64)return as(Qt.getFloat64(0,!0),12)}function as(o,n){return Number.isNaN(o)?"NaN":Number.isFinite(o)?String(Number(o.toPrecision(n))):o<0?"-∞":"∞"}var vi=(o,n)=>n===64&&o>=0x1000000n;function De(o,n,e){if(e===1)return o?"1":"0";if(n.startsWith(".f"))return gi(o,e)??At(o);if(e>64||vi(o,e)&&!n.startsWith(".s"))return At(o);let t=BigInt.asIntN(e,o);return n.startsWith(".s")||n.startsWith(".b")&&t<0n&&t>-65536n?t.toString().replace("-","−"):o.toString()}function At(o){return"0x"+o.toString(16)}function cs(o,n,e){if(o.class==="uniform")return De(o.base,n,e);if(o.class!=="affine")return"";let t=n.startsWith(".f")?At(o.base):De(o.base,n,e),s=o.stride<0n?`− ${-o.stride}`:`+ ${o.stride}`;return`${t==="0"?o.stride<0n?"0 "+s:`${o.stride}`:`${t} ${s}`} · lane`}var en=class{constructor(n,e="event"){this.events=n.counts(e)}first(n){let[e,t]=[0,this.events.length];for(;e<t;){let s=e+t>>>1;this.events[s]<n?e=s+1:t=s}return e}*rows(n){for(let e=this.first(n);e<this.events.length&&this.events[e]===n;e++)yield e}event(n){return this.events[n]}get length(){return this.events.length}},hs=4e6;function qe(o){let n=o.table("launches").rows;if(n>1e4)throw new C(0,`the recording has ${n} launches; the page shows at most 10000: record fewer (--only-kernel)`);return Array.from({length:n},(e,t)=>new tn(o,t))}var Xt=o=>o<26?String.fromCharCode(65+o):o<36?String(o-26):"#";function bi(o,n,e){if(!n)return e?"done":"stopped";let t=`: trap in kernel ${o}: `,s=n.indexOf(t);if(s<0)return e?"trap":"stopped";let i=n.slice(s+t.length);return/^(deadlock\b|a CTA waits for a CTA that cannot begin)/.test(i)?"deadlock":/^(step|time) limit reached/.test(i)?"stopped":"trap"}var tn=class{constructor(n,e){this.recording=n;this.row=e;this.instructions=[];this.registers=[];this.blocks=[];this.sources=[];this.warps=[];this.firstRegister=new Map;this.starts=[];this.models=new Map;this.index=new Map;let t=n,s=t.table("launches"),i=d=>Number(s.numbers(d)[e]);if(this.kernel=s.texts("kernel")[e],this.file=s.texts("file")[e],this.grid=[i("grid_x"),i("grid_y"),i("grid_z")],this.block=[i("block_x"),i("block_y"),i("block_z")],this.warpSize=i("warp_size")||32,this.warpSize>64)throw new C(0,`launch ${e} has warps of ${this.warpSize} lanes; want at most 64`);this.policy=s.texts("reconverge")[e],this.firstInstruction=i("first_instruction");let r=new Set((t.table("recording").texts("contents")[0]??"").split(/,\s*/));this.has={results:r.has("results"),accesses:r.has("accesses"),stack:r.has("stack")};let a=t.table("ends"),l=Array.from(a.numbers("launch")).indexOf(e);this.error=l<0?"":a.texts("error")[l],this.complete=l>=0&&a.numbers("complete")[l]===1,this.outcome=bi(this.kernel,this.error,this.complete),this.readProgram(i("instructions"),i("first_block"),i("blocks"),i("first_source"),i("sources"));let c=t.table("events");if(c.rows>hs)throw new C(0,`the recording has ${c.rows} events; the page shows at most ${hs}: record fewer (--max-events)`);let[h,p]=[c.wide("active"),c.wide("lanes")];this.columns={kind:c.numbers("kind"),instruction:c.numbers("instruction"),activeLo:h.lo,activeHi:h.hi,lanesLo:p.lo,lanesHi:p.hi,depth:c.numbers("depth"),reconverge:c.numbers("reconverge")};let u=t.table("operands");this.operands={instruction:u.numbers("instruction"),register:u.numbers("register"),writes:u.numbers("writes")},this.order=this.groupByWarp(c)}readProgram(n,e,t,s,i){let r=this.recording,a=r.table("instructions"),[l,c,h,p,u,d]=[a.texts("function"),a.numbers("line"),a.texts("class"),a.texts("text"),a.texts("source_file"),a.numbers("source_line")],g=n||(this.firstInstruction===0&&r.table("launches").rows===1?a.rows:0);if(this.firstInstruction+g>a.rows)throw new C(0,`launch ${this.row} has instructions that the recording lacks`);let A=new Set;for(let T=0;T<g;T++){let R=this.firstInstruction+T;A.add(l[R]),this.instructions.push({index:T,function:l[R],line:c[R],class:h[R],text:p[R],sourceFile:u[R],sourceLine:d[R],block:-1})}let m=r.table("registers"),[x,k,w,$]=[m.texts("function"),m.texts("name"),m.texts("type"),m.numbers("bits")];for(let T=0;T<m.rows;T++)A.has(x[T])&&(this.firstRegister.set(T,this.registers.length),this.registers.push({index:this.registers.length,function:x[T],name:k[T],type:w[T],bits:$[T]||32}));let E=r.table("blocks");if(e+t>E.rows)throw new C(0,`launch ${this.row} has basic blocks that the recording lacks`);let[v,y,M,S,L]=[E.texts("function"),E.texts("labels"),E.numbers("first"),E.numbers("instructions"),E.numbers("post_dominator")];for(let T=0;T<t;T++){let R=e+T,ce={index:T,function:v[R],labels:y[R]?y[R].split(" "):[],first:M[R]-this.firstInstruction,instructions:S[R],letter:"",next:[],postDominator:L[R]<0?-1:L[R]-e};if(ce.first<0||ce.first+ce.instructions>g)throw new C(0,`basic block ${R} has instructions that the launch lacks`);this.blocks.push(ce);for(let Y=0;Y<ce.instructions;Y++)this.instructions[ce.first+Y].block=T}let P=r.table("edges"),[B,J]=[P.numbers("from"),P.numbers("to")];for(let T=0;T<P.rows;T++){let R=this.blocks[B[T]-e];R&&R.next.push(J[T]<0?-1:J[T]-e)}let _=r.table("sources");if(s+i>_.rows)throw new C(0,`launch ${this.row} has texts that the recording lacks`);let[q,O,D]=[_.numbers("kind"),_.texts("name"),_.texts("text")];for(let T=s;T<s+i;T++)this.sources.push({kind:q[T]===0?"ptx":"compiled",name:O[T],text:D[T]})}letterBlocks(){let n=new Set;for(let t of this.blocks){let s=t.labels.find(i=>/^[A-Za-z]$/.test(i));s&&t.instructions>0&&n.add(t.letter=s)}let e=0;for(let t of this.blocks)if(!(t.letter||t.instructions===0)){for(;n.has(Xt(e))&&Xt(e)!=="#";)e++;t.letter=Xt(e++)}}findBlocks(){let n=new Set,e=new Map,t=this.recording.table("groups"),[s,i,r]=[t.numbers("instruction"),this.byEvent("groups"),this.firstInstruction],a=new Set(this.order);for(let l=0;l<t.rows;l++){if(!a.has(i.event(l)))continue;let c=this.columns.instruction[i.event(l)]-r,h=s[l]<0?-1:s[l]-r;e.has(c)||e.set(c,new Set),e.get(c).add(h),n.add(c+1),n.add(h)}this.instructions.forEach((l,c)=>{let h=this.instructions[c-1];(!h||h.function!==l.function||n.has(c)||/^(@!?%\S+\s+)?(bra|brx|ret|exit|trap)\b/.test(h.text))&&this.blocks.push({index:this.blocks.length,function:l.function,labels:[],first:c,instructions:0,letter:"",next:[],postDominator:-1});let p=this.blocks[this.blocks.length-1];p.instructions++,l.block=p.index});for(let l of this.blocks){let c=l.first+l.instructions-1,h=this.instructions[c].text,p=e.get(c)??new Set(/^(bra|brx|ret|exit|trap)\b/.test(h)||!this.instructions[c+1]?[]:[c+1]);for(let u of p)l.next.push(u<0?-1:this.instructions[u].block);/^(@!?%\S+\s+)?(ret|exit)\b/.test(h)&&!l.next.includes(-1)&&l.next.push(-1)}}groupByWarp(n){let[e,t,s,i]=[n.numbers("launch"),n.numbers("cta"),n.numbers("warp"),n.numbers("kind")],r=this.exitsByBranch(n),a=new Map,l=new Int32Array(n.rows).fill(-1),c=[],h=-1,p=-1;for(let m=0;m<n.rows;m++){if(e[m]!==this.row||s[m]<0||r.has(m))continue;let x=t[m]*2048+s[m];if(x!==p){let w=a.get(x);w===void 0&&(w=this.warps.length,a.set(x,w),this.warps.push({cta:t[m],warp:s[m],steps:0,lanes:j}),c.push(0)),[h,p]=[w,x]}l[m]=h,c[h]++;let k=this.warps[h];i[m]===0&&k.steps++,i[m]===14&&(this.trap??={cta:t[m],warp:s[m]}),k.lanes=G(k.lanes,F(this.columns.activeLo[m],this.columns.activeHi[m]))}let u=this.warps.map((m,x)=>({w:m,i:x})).sort((m,x)=>m.w.cta-x.w.cta||m.w.warp-x.w.warp),d=new Float64Array(this.warps.length),g=0;u.forEach(({w:m,i:x},k)=>{this.warps[k]=m,this.starts.push(g),d[x]=g,g+=c[x]}),this.starts.push(g);let A=new Uint32Array(g);for(let m=0;m<n.rows;m++)l[m]>=0&&(A[d[l[m]]++]=m);return A}exitsByBranch(n){let[e,t,s,i,r]=[n.numbers("launch"),n.numbers("cta"),n.numbers("warp"),n.numbers("kind"),n.counts("step")],a=this.columns,l=new Set,c=-1,h=new Map;for(let p=n.rows-1;p>=0;p--){if(e[p]!==this.row||s[p]<0)continue;let u=t[p]*2048+s[p];if(i[p]===0){let d=h.get(u)??-1;r[p]===c&&d>=0&&i[d]===8&&a.lanesLo[d]===a.activeLo[p]&&a.lanesHi[d]===a.activeHi[p]?l.add(p):c=r[p]}h.set(u,p)}return l}byEvent(n){let e=this.index.get(n);return e||this.index.set(n,e=new en(this.recording.table(n),n==="stores"?"access":"event")),e}results(){if(!this.resultColumns){let[n,e]=[this.recording.table("results"),this.recording.table("values")];this.resultColumns={lanes:n.wide("lanes"),register:n.numbers("register"),cls:n.numbers("class"),base:n.wide("base"),high:n.wide("high"),stride:n.wide("stride"),values:n.wide("values"),low:e.wide("low"),top:e.wide("high"),byEvent:this.byEvent("results")}}return this.resultColumns}instructionOfRow(n){if(n<0)return-1;let e=n-this.firstInstruction;if(!(e<this.instructions.length&&e>=0))throw new C(0,`an event names instruction ${n}, which the launch lacks`);return e}findWarp(n,e){return this.warps.findIndex(t=>t.cta===n&&t.warp===e)}warp(n){let e=this.models.get(n);if(!e){if(!this.warps[n])throw new C(0,"the recording has no events of a warp");this.blocks.length===0&&this.findBlocks(),this.models.size===0&&this.letterBlocks(),this.models.size>=8&&this.models.delete(this.models.keys().next().value),this.models.set(n,e=new nn(this,this.warps[n],this.order.subarray(this.starts[n],this.starts[n+1])))}return e}operandsOf(n,e){let{instruction:t,register:s,writes:i}=this.operands,r=this.firstInstruction+n,[a,l]=[0,t.length];for(;a<l;){let h=a+l>>>1;t[h]<r?a=h+1:l=h}let c=[];for(;a<t.length&&t[a]===r;a++){let h=this.firstRegister.get(s[a]);h!==void 0&&i[a]===1===e&&!c.includes(h)&&c.push(h)}return c}ctaName(n){let[e,t]=this.grid;return`(${n%e},${Math.floor(n/e)%t},${Math.floor(n/(e*t))})`}},wi=["running","ready","blocked","point"],us=64,xi=24<<20,nn=class{constructor(n,e,t){this.launch=n;this.info=e;this.rows=t;this.stackEvents=[];this.snapshots=[];let s=n.columns,i=e.steps;this.steps=i,this.at=new Int32Array(i),this.instruction=new Int32Array(i),[this.activeLo,this.activeHi,this.lanesLo,this.lanesHi]=[0,0,0,0].map(()=>new Uint32Array(i)),[this.endedLo,this.endedHi]=[new Uint32Array(i+1),new Uint32Array(i+1)];let r=j,a=j,l=0;for(let u=0;u<t.length;u++){let d=t[u];switch(s.kind[d]){case 0:if(this.at[l]=u,this.instruction[l]=n.instructionOfRow(s.instruction[d]),this.instruction[l]<0)throw new C(0,"an instruction event has no instruction");this.activeLo[l]=s.activeLo[d],this.activeHi[l]=s.activeHi[d],this.lanesLo[l]=s.lanesLo[d],this.lanesHi[l]=s.lanesHi[d],this.endedLo[l]=a.lo,this.endedHi[l]=a.hi,l++,r=G(r,F(s.activeLo[d],s.activeHi[d]));break;case 11:r=G(r,F(s.activeLo[d],s.activeHi[d]));break;case 8:a=G(a,F(s.lanesLo[d],s.lanesHi[d]));break;case 12:a=r}}this.endedLo[i]=a.lo,this.endedHi[i]=a.hi,this.lanes=r;let c=n.byEvent("stack"),h=0;for(let u=0;u<t.length&&c.length>0;u++){for(;h<c.length&&c.event(h)<t[u];)h++;h<c.length&&c.event(h)===t[u]&&this.stackEvents.push(t[u])}let p=n.registers.length*n.warpSize*9;this.interval=us*Math.max(1,Math.ceil(p*(i/us)/xi))}active(n){return n<this.steps?F(this.activeLo[n],this.activeHi[n]):j}executing(n){return n<this.steps?F(this.lanesLo[n],this.lanesHi[n]):j}ended(n){return F(this.endedLo[n],this.endedHi[n])}instructionAt(n){return this.launch.instructions[this.instruction[n]]}line(n){return this.instructionAt(n)?.line??0}eventOf(n){return n<this.steps?this.rows[this.at[n]]:(this.rows[this.rows.length-1]??0)+1}stepAtEvent(n){let[e,t]=[0,this.steps];for(;e<t;){let s=e+t>>>1;this.rows[this.at[s]]<=n?e=s+1:t=s}return e===this.steps&&n>(this.rows[this.rows.length-1]??0)?this.steps:Math.max(0,e-1)}*after(n){for(let e=this.at[n]+1;e<(n+1<this.steps?this.at[n+1]:this.rows.length);e++)yield this.rows[e]}outcome(n){let e={groups:[],split:!1,reconverged:j,waiting:j,barrier:-1,woken:j,ended:j,called:"",returned:!1,trap:""};if(n>=this.steps)return e;let t=this.launch.columns,s=this.launch.recording;for(let i of this.after(n)){let r=F(t.lanesLo[i],t.lanesHi[i]);switch(t.kind[i]){case 1:case 2:e.groups=this.groupsOf(i),e.split||=t.kind[i]===2;break;case 3:e.reconverged=r;break;case 4:e.waiting=G(e.waiting,r),e.barrier=this.barrierOf(i);break;case 5:e.woken=G(e.woken,r);break;case 8:e.ended=G(e.ended,r);break;case 6:for(let a of this.launch.byEvent("calls").rows(i))e.called=s.table("calls").texts("function")[a];break;case 7:e.returned=!0;break;case 14:for(let a of this.launch.byEvent("traps").rows(i))e.trap=s.table("traps").texts("message")[a]}}return e}groupsOf(n){let e=this.launch.recording.table("groups"),[t,s]=[e.wide("lanes"),e.numbers("instruction")],i=[];for(let r of this.launch.byEvent("groups").rows(n))i.push({lanes:F(t.lo[r],t.hi[r]),instruction:this.launch.instructionOfRow(s[r])});return i}barrierOf(n){let e=this.launch.recording.table("waits").numbers("barrier");for(let t of this.launch.byEvent("waits").rows(n))return e[t];return-1}splits(n){let e=this.launch.columns;if(n>=this.steps)return!1;for(let t of this.after(n))if(e.kind[t]===2)return!0;return!1}branches(n){return/^(@\S+\s+)?(bra|brx)\b/.test(this.instructionAt(n)?.text??"")}reconverges(n){let e=this.launch.columns;if(n>=this.steps)return!1;for(let t of this.after(n))if(e.kind[t]===3)return!0;return!1}turningPoints(){if(!this.turns){let n=[];for(let e=0;e<this.steps;e++)(e+1<this.steps&&(this.activeLo[e]!==this.activeLo[e+1]||this.activeHi[e]!==this.activeHi[e+1])||this.splits(e)||this.reconverges(e))&&n.push(e);this.turns=Uint32Array.from(n)}return this.turns}asksAt(n){return n+1>=this.steps?!1:he(this.active(n),this.active(n+1))?this.branches(n)&&this.instructionAt(n).text.startsWith("@"):!0}stackAt(n){let e=this.eventOf(n),[t,s]=[0,this.stackEvents.length];for(;t<s;){let u=t+s>>>1;this.stackEvents[u]<=e?t=u+1:s=u}if(t===0)return[];let i=this.launch.recording.table("stack"),[r,a,l,c,h]=[i.numbers("kind"),i.wide("lanes"),i.wide("arrived"),i.numbers("instruction"),i.numbers("depth")],p=[];for(let u of this.launch.byEvent("stack").rows(this.stackEvents[t-1])){let d=wi[r[u]]??"ready";p.push({kind:d,lanes:F(a.lo[u],a.hi[u]),arrived:F(l.lo[u],l.hi[u]),instruction:d==="running"&&n<this.steps?this.instruction[n]:this.launch.instructionOfRow(c[u]),depth:h[u]})}return yi(p)}state(n){if(n=Math.max(0,Math.min(n,this.steps)),this.stateCache?.step===n)return this.stateCache;let e=this.launch.warpSize,t=n===this.steps,[s,i,r]=[this.active(n),this.executing(n),this.ended(n)],a=this.stackAt(n),l=t?-1:this.instruction[n],c=[],h=new Int8Array(e).fill(-1),p=(w,$,E,v=-1,y=j,M=-1)=>{let S=c.findIndex(L=>L.reason===$&&L.instruction===E&&L.point===v&&L.barrier===M);S<0&&(S=c.push({reason:$,lanes:j,instruction:E,point:v,missing:y,barrier:M})-1),c[S].lanes=G(c[S].lanes,Ne([w])),h[w]=S},u=W(W(this.lanes,r),s),d=this.nextInstructions(n,u),g=this.waitsAt(n,u);for(let w=0;w<e;w++)if(I(this.lanes,w))if(I(s,w))p(w,I(i,w)||this.branches(n)?"runs":"masked",l);else if(I(r,w))p(w,"ended",-1);else if(g[w]!==void 0){let $=g[w];p(w,$.barrier>=0?"barrier":"collective",$.instruction,-1,j,$.barrier)}else{let $=a.find(y=>y.kind==="point"&&I(y.arrived,w)),E=a.find(y=>(y.kind==="ready"||y.kind==="blocked")&&I(y.lanes,w)),v=d[w]>=0?d[w]:(E??$)?.instruction??-1;if($)p(w,"joins",$.instruction,$.instruction,W(xe($.lanes,this.lanes),G($.arrived,r)));else if(E&&E.kind==="ready"){let y=a.find(M=>M.kind==="point"&&z(W(E.lanes,M.lanes)));p(w,"ready",v,y?.instruction??-1,y?W(W(xe(y.lanes,this.lanes),r),E.lanes):j)}else E?p(w,"collective",v):p(w,t?"stuck":"waits",v)}let A=["runs","masked","ready","waits","stuck","joins","collective","barrier","ended"],m=c.map((w,$)=>({g:w,i:$})).sort((w,$)=>A.indexOf(w.g.reason)-A.indexOf($.g.reason)||w.g.instruction-$.g.instruction),x=new Map(m.map(({i:w},$)=>[w,$]));for(let w=0;w<e;w++)h[w]>=0&&(h[w]=x.get(h[w]));let k=t?0:this.launch.columns.depth[this.eventOf(n)];return this.stateCache={step:n,end:t,instruction:l,active:s,lanes:i,ended:r,groups:m.map(w=>w.g),group:h,stack:a,depth:k}}nextInstructions(n,e){let t=new Int32Array(64).fill(-1),s=e;for(let r=n+1;r<this.steps&&!z(s);r++){let a=xe(s,this.active(r));if(!z(a)){for(let l of Q(a))t[l]=this.instruction[r];s=W(s,a)}}for(let r=Math.min(n,this.steps)-1;r>=0&&!z(s);r--){let a=xe(s,this.active(r));if(z(a))continue;let l=this.outcome(r).groups;for(let c of Q(a))t[c]=l.find(h=>I(h.lanes,c))?.instruction??Math.min(this.instruction[r]+1,this.launch.instructions.length-1);s=W(s,a)}let i=z(s)?-1:this.rows.findLast(r=>this.launch.columns.kind[r]===14)??-1;if(i>=0)for(let r of Q(s))t[r]=this.launch.instructionOfRow(this.launch.columns.instruction[i]);return t}waitsAt(n,e){let t=[],s=this.launch.columns,i=e;for(let r=(n<this.steps?this.at[n]:this.rows.length)-1;r>=0&&!z(i);r--){let a=this.rows[r];switch(s.kind[a]){case 4:{let l=xe(i,F(s.lanesLo[a],s.lanesHi[a]));for(let c of Q(l))t[c]={instruction:this.launch.instructionOfRow(s.instruction[a]),barrier:this.barrierOf(a)};i=W(i,l);break}case 5:i=W(i,F(s.lanesLo[a],s.lanesHi[a]));break;case 0:i=W(i,F(s.activeLo[a],s.activeHi[a]))}}return t}apply(n,e,t){let s=this.launch.warpSize,{lanes:i,register:r,cls:a,base:l,high:c,stride:h,values:p,low:u,top:d,byEvent:g}=this.launch.results(),A=u.lo.length;for(let m=g.first(t);m<g.length&&g.event(m)===t;m++){let x=this.launch.firstRegister.get(r[m]),k=a[m];if(x===void 0||k===4)continue;n.last[x]=e;let w=this.launch.registers[x].bits,$=p.lo[m];for(let E=0;E<s;E++){if(!((E<32?i.lo[m]>>>E:i.hi[m]>>>E-32)&1))continue;let v=x*s+E;n.defined[v]=1;let[y,M]=[l.lo[m],l.hi[m]];if(k===1)if(w<=32)y=y+Math.imul(h.lo[m],E)>>>0;else{let S=BigInt.asUintN(64,(BigInt(M)<<32n|BigInt(y))+BigInt(E)*BigInt.asIntN(64,BigInt(h.hi[m])<<32n|BigInt(h.lo[m])));[y,M]=[Number(S&0xffffffffn),Number(S>>32n)]}else if(k===2){if($>=A)throw new C(0,"a result names values that the recording lacks");[y,M]=[u.lo[$],u.hi[$]],w>64&&n.top.set(v,BigInt(d.hi[$])<<32n|BigInt(d.lo[$])),$++}else k===3?[y,M]=[(E<32?l.lo[m]>>>E:l.hi[m]>>>E-32)&1,0]:w>64&&n.top.set(v,BigInt(c.hi[m])<<32n|BigInt(c.lo[m]));n.lo[v]=w<32?y&(1<<w)-1:y,n.hi[v]=w>32?M:0}}}registersAfter(n){let e=this.launch.registers.length,t=this.launch.warpSize,s=a=>a?{lo:a.lo.slice(),hi:a.hi.slice(),top:new Map(a.top),defined:a.defined.slice(),last:a.last.slice()}:{lo:new Uint32Array(e*t),hi:new Uint32Array(e*t),top:new Map,defined:new Uint8Array(e*t),last:new Int32Array(e).fill(-1)},i=Math.min(Math.floor(Math.min(n,this.steps-1)/this.interval),this.snapshots.length),r=s(i>0?this.snapshots[i-1]:void 0);for(let a=i*this.interval;a<=n&&a<this.steps;a++){a>0&&a%this.interval===0&&a/this.interval===this.snapshots.length+1&&this.snapshots.push(s(r)),a>0&&this.forget(r,a-1),this.apply(r,a,this.rows[this.at[a]]);for(let l of this.after(a))this.launch.columns.kind[l]!==1&&this.apply(r,a,l)}return r}forget(n,e){let{launch:t}=this,s=t.columns,i=t.warpSize;for(let r of this.after(e)){let a="";if(s.kind[r]===7)a=this.instructionAt(e).function;else if(s.kind[r]===6)for(let l of t.byEvent("calls").rows(r))a=t.recording.table("calls").texts("function")[l];if(a){for(let{index:l,function:c}of t.registers)if(c===a)for(let h=0;h<i;h++)((h<32?s.lanesLo[r]>>>h:s.lanesHi[r]>>>h-32)&1)===1&&(n.defined[l*i+h]=0)}}}registers(n){let e=this.launch.warpSize,t=this.registersAfter(n),s=n<this.steps?this.instruction[n]:this.steps?this.instruction[this.steps-1]:-1,i=this.launch.instructions[s]?.function,r=n<this.steps?new Set(this.launch.operandsOf(s,!1)):new Set,a=[];for(let l of this.launch.registers){let c=l.index;if(l.function!==i||t.last[c]<0&&!r.has(c))continue;let h=[];for(let d=0;d<e;d++){let g=c*e+d;h.push(t.defined[g]?(t.hi[g]?BigInt(t.hi[g])<<32n|BigInt(t.lo[g]):BigInt(t.lo[g]))|(l.bits>64?(t.top.get(g)??0n)<<64n:0n):void 0)}let p=n<this.steps?this.active(n):this.lanes,u=Ne(Q(p).filter(d=>h[d]!==void 0));a.push({register:l,values:h,structure:ls(u,l.bits,d=>h[d]),written:t.last[c]===n&&n<this.steps,read:r.has(c),last:t.last[c]})}return a}accesses(n){if(n>=this.steps)return[];let e=this.launch.recording,t=e.table("accesses"),s=e.table("values").wide("low"),[i,r,a,l,c,h,p,u]=[t.numbers("kind"),t.numbers("space"),t.numbers("bytes"),t.wide("lanes"),t.numbers("class"),t.wide("base"),t.wide("stride"),t.wide("values")],d=["global","shared","local","param","const","texture","surface"],g=[];for(let A of this.launch.byEvent("accesses").rows(this.eventOf(n))){let m=F(l.lo[A],l.hi[A]),x=[],k=u.lo[A],[w,$]=[BigInt(h.hi[A])<<32n|BigInt(h.lo[A]),BigInt(p.hi[A])<<32n|BigInt(p.lo[A])];for(let M of Q(m))if(c[A]===2){if(k>=s.lo.length)throw new C(0,"an access names addresses that the recording lacks");x[M]=BigInt(s.hi[k])<<32n|BigInt(s.lo[k]),k++}else x[M]=c[A]===1?BigInt.asUintN(64,w+$*BigInt(M)):w;let E=t.numbers("allocation")[A],v=e.table("allocations"),y=M=>BigInt(v.wide(M).hi[E])<<32n|BigInt(v.wide(M).lo[E]);g.push({kind:["load","store","atomic","zero"][i[A]]??"load",space:d[r[A]]??"global",bytes:a[A],lanes:m,addresses:x,class:["uniform","affine","generic","none","none"][c[A]]??"none",sectors:t.numbers("sectors")[A],passes:t.numbers("passes")[A],allocation:E>=0&&E<v.rows?{name:v.texts("name")[E],base:y("base"),size:y("size")}:void 0})}return g}counts(){if(this.sums)return this.sums;let[n,e,t,s]=[0,0,0,0],i=this.launch.columns;for(let r=0;r<this.steps;r++){let a=U(this.active(r));n+=a,a<U(this.lanes)&&s++}for(let r of this.rows)i.kind[r]===2&&e++,i.kind[r]===3&&t++;return this.sums={steps:this.steps,activeSum:n,used:this.steps?n/this.steps/this.launch.warpSize:0,splits:e,reconvergences:t,partial:s}}occurrence(n){let e=Math.min(n,this.steps-1),t=0;for(let i=0;i<e;i++)this.instruction[i]===this.instruction[e]&&t++;let s=this.instructionAt(e);return{line:s?.line??0,text:s?.text??"",n:t}}find(n){let t=(this.launch.instructions.filter(i=>i.text===n.text).sort((i,r)=>Math.abs(i.line-n.line)-Math.abs(r.line-n.line))[0]??this.launch.instructions.find(i=>i.line===n.line))?.index;if(t===void 0)return-1;let s=-1;for(let i=0,r=0;i<this.steps&&!(this.instruction[i]===t&&(s=i,r++===n.n));i++);return s}nextAtLine(n,e){let t=this.launch.instructions.map(e);for(let s=1;s<=this.steps;s++){let i=(n+s)%this.steps;if(t[this.instruction[i]])return i}return-1}};function yi(o){let n=o.filter(t=>t.kind==="running"),e=o.filter(t=>t.kind==="ready"||t.kind==="blocked").reverse();for(let t of o.filter(s=>s.kind==="point")){let s=i=>z(W(i.lanes,t.lanes));n.push(...e.filter(s),t),e=e.filter(i=>!s(i))}return[...n,...e]}function ds(o,n){let e=ps.get(o);e||ps.set(o,e=new WeakMap);let t=e.get(n);if(t===void 0){t=0;let s=Math.max(o.steps,n.steps);for(;t<s&&!sn(o,n,t);)t++;t===s&&(t=-1),e.set(n,t)}return t}var ps=new WeakMap;function sn(o,n,e){return e>=o.steps||e>=n.steps?e<o.steps||e<n.steps:o.activeLo[e]!==n.activeLo[e]||o.activeHi[e]!==n.activeHi[e]||o.instructionAt(e).line!==n.instructionAt(e).line}var rn=8,ne=K`
:host {
--paper: light-dark(#fbfaf7, #14181d);
--card: light-dark(#ffffff, #1b2027);
--well: light-dark(#f4f3ef, #161b21);
--ink: light-dark(#1d232b, #e4e8ec);
--soft: light-dark(#56616c, #9fabb7);
--line: light-dark(#dcdfe3, #333b45);
--edge: light-dark(#7b8691, #7d8996);
--u: light-dark(#1f6fb5, #6cb2f2);
--a: light-dark(#17803d, #5fcf8a);
--g: light-dark(#b4500a, #f0995a);
--u-soft: light-dark(#e4eef8, #1c3247);
--a-soft: light-dark(#e1f3e7, #1a3726);
--g-soft: light-dark(#fbeadd, #43291a);
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
`,le=o=>`--hue: var(--b${(o<0?0:o)%rn})`,te=class extends me{constructor(){super(...arguments);this.step=0;this.src="";this.launch=0;this.cta=-1;this.warp=-1;this.failure=""}static{this.properties={model:{attribute:!1},step:{type:Number,reflect:!0},src:{},launch:{type:Number},cta:{type:Number},warp:{type:Number},failure:{state:!0}}}willUpdate(e){this.src&&["src","launch","cta","warp"].some(t=>e.has(t))&&this.load()}async load(){try{let t=(await $i(this.src))[this.launch];if(!t)throw new Error(`${this.src} has no launch ${this.launch}`);let s=this.cta<0&&this.warp<0?0:t.findWarp(Math.max(this.cta,0),Math.max(this.warp,0));this.model=t.warp(s),this.failure=""}catch(e){this.failure=e.message}}send(e,t){this.dispatchEvent(new CustomEvent(e,{detail:t,bubbles:!0,composed:!0}))}go(e){let t=new CustomEvent("gemu-step",{detail:{step:e},bubbles:!0,composed:!0,cancelable:!0});this.dispatchEvent(t)&&(this.step=e)}},fs=new Map;function $i(o){let n=fs.get(o);return n||(n=fetch(o).then(async e=>{if(!e.ok)throw new Error(`${o}: ${e.status} ${e.statusText}`);return qe(new Ee(new Uint8Array(await e.arrayBuffer())))}),fs.set(o,n)),n}var ie=(o,n,e)=>Math.max(n,Math.min(e,o)),Se=(o,n,e=n+"s")=>`${o.toLocaleString("en")} ${o===1?n:e}`;var gs=40,on=class extends te{constructor(){super(...arguments);this.hideNext=!1;this.drawings=new Map}static{this.properties={hideNext:{attribute:!1}}}static{this.styles=[ne,K`
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
`]}render(){let e=this.model;if(!e)return b;let t=(e.instructionAt(Math.min(this.step,e.steps-1))??e.launch.instructions[0])?.function,s=e.launch.blocks.filter(u=>u.function===t);if(s.length>gs)return f`<p>${t} has ${s.length} basic blocks; a graph of more than ${gs} is not drawn. The arcs beside the program show its branches.</p>`;let i=`${e.launch.row} ${e.launch.policy} ${t}`,r=this.drawings.get(i);r||this.drawings.set(i,r=Dn(s));let a=e.state(this.step),l=new Map;for(let u of a.groups){if(u.instruction<0)continue;let d=e.launch.instructions[u.instruction].block,g=l.get(d)??{runs:j,waits:j};u.reason==="runs"||u.reason==="masked"?g.runs=G(g.runs,u.lanes):g.waits=G(g.waits,u.lanes),l.set(d,g)}let c=this.hideNext||a.end?[]:e.outcome(this.step).groups.map(u=>u.instruction<0?-1:e.launch.instructions[u.instruction].block),h=a.end?-1:e.launch.instructions[a.instruction].block,p=r.boxes.filter(u=>l.has(u.block)).map(u=>`block ${e.launch.blocks[u.block].letter}: ${this.words(l.get(u.block))}`).join("; ");return f`<div class="scroll" tabindex="0" role="region" aria-label="Control-flow graph">
<svg viewBox="0 0 ${r.width} ${r.height}" width=${r.width} height=${r.height} role="img" aria-label="Control-flow graph of ${t}. ${p}">
<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5L8 4L0 7.5z" fill="context-stroke"/></marker></defs>
${r.edges.map(u=>ee`<path class="edge ${u.from===h&&c.includes(u.to)?"taken":""}" d=${u.path} marker-end="url(#tip)"/>`)}
        ${r.boxes.map(u=>this.box(e.launch.blocks[u.block],u.x-132/2,u.y,l.get(u.block)))}
      </svg>
    </div>`}words(e){let t=this.model;return[z(e.runs)?"":`${H(e.runs,t.lanes)} ${U(e.runs)===1?"runs":"run"}`,z(e.waits)?"":`${H(e.waits,t.lanes)} ${U(e.waits)===1?"waits":"wait"}`].filter(Boolean).join(", ")}box(e,t,s,i){let r=this.model,[a,l]=[r.launch.instructions[e.first].line,r.launch.instructions[e.first+e.instructions-1].line],c=i?[z(i.runs)?"":`${U(i.runs)} run`,z(i.waits)?"":`${U(i.waits)} wait`].filter(Boolean).join(", "):"";return ee`<g class="${i?"here":""} ${i&&!z(i.runs)?"runs":""}" style=${le(e.index)}>
<title>${e.letter}${e.labels.length?`, ${e.labels.join(", ")}`:""}: lines ${a} to ${l}${i?`. ${this.words(i)}`:""}</title>
      <rect class="box" x=${t} y=${s} width=${132} height=${44} rx="7"/>
      <rect class="tag" x=${t+7} y=${s+8} width="24" height="28" rx="5"/><text class="tag-text" x=${t+19} y=${s+27}>${e.letter}</text>
      <text x=${t+40} y=${s+19}>${e.labels[0]&&e.labels[0]!==e.letter?e.labels[0].slice(0,13):a===l?`line ${a}`:`lines ${a}–${l}`}</text>
      <text class="lanes" x=${t+40} y=${s+34}>${c}</text>
    </g>`}};customElements.define("gemu-flow",on);var ot=32n,je=960,an=32,ln=class extends te{static{this.styles=[ne,K`
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
`]}sentence(n){let e=this.model,t=H(n.lanes,e.lanes),s={load:"load",store:"store",atomic:"change",zero:"clear"}[n.kind],i=Q(n.lanes).length,r=`${t[0].toUpperCase()+t.slice(1)} ${i===1?s+"s":s} ${Se(n.bytes,"byte")}${i===1?"":" each"} ${n.kind==="load"?"from":"in"} ${n.space} memory${n.allocation?.name?` (${n.allocation.name})`:""}.`,a=new Set(Q(n.lanes).map(l=>n.addresses[l])).size;if(n.space==="shared")return`${r} ${n.passes<=1?"One pass through the banks: no conflict.":`${n.passes} passes through the banks, because lanes need ${n.passes} different words of one bank.`}`;if(n.sectors>0){let l=a*n.bytes/(n.sectors*32);return`${r} ${Se(n.sectors,"sector")} of 32 bytes; ${Math.min(100,l*100).toFixed(0)} % of the transferred bytes are used.`}return`${r}${n.passes>1?` ${n.passes} passes.`:""}`}sectors(n){let e=this.model,t=Q(n.lanes),s=new Set;for(let x of t)for(let k=n.addresses[x]/ot;k*ot<n.addresses[x]+BigInt(Math.max(n.bytes,1));k++)s.add(k);let i=[...s].sort((x,k)=>x<k?-1:1);if(i.length>128)return b;let r=i.map((x,k)=>k>0&&x!==i[k-1]+1n?1:0),a=6,l=r.reduce((x,k)=>x+k,0),c=Math.min(112,(je-20-l*a)/i.length),h=c*i.length+l*a,p=(je-h)/2,u=i.map((x,k)=>p+=r[k]*a+(k>0?c:0)),d=new Map(i.map((x,k)=>[x,k])),g=x=>14+(x+.5)*(je-28)/e.launch.warpSize,A=x=>{let k=d.get(x/ot);return u[k]+Number(x%ot)/32*(c-2)},m=x=>c>=62||x===0&&c>=8||r[x]&&c>=20;return f`<div class="scroll" tabindex="0" role="region" aria-label="Lanes and sectors"><svg viewBox="0 0 ${je} 150" role="img" aria-label="Arcs from ${t.length} lanes to ${i.length} sectors">
${t.map(x=>{let[k,w]=[g(x),A(n.addresses[x])+Math.min(n.bytes,32)/64*(c-2)];return ee`<path class="arc" d="M${k} 26C${k} 70 ${w} 62 ${w} 104"/><circle class="dot" cx=${k} cy="22" r="4.5"/><text x=${k} y="11">${x}</text>`})}
      ${i.map((x,k)=>ee`<rect class="sector" x=${u[k]} y="106" width=${Math.max(c-2,1)} height="20" rx="2"/>${m(k)?ee`<text x=${c>=62?u[k]+c/2:Math.max(u[k]+30,34)} y="142">${"0x"+(x*ot).toString(16)}</text>`:b}`)}
      ${[...new Set(t.map(x=>n.addresses[x]))].map(x=>ee`<rect class="used" x=${A(x)+.5} y="110" width=${Math.max(Math.min(n.bytes,32)/32*(c-2)-1,.8)} height="12"/>`)}
    </svg></div>`}comb(n){let e=Q(n.lanes),t=Array.from({length:an},()=>new Map);for(let a of e){let l=n.addresses[a]/4n;for(let c=0n;c<BigInt(Math.max(1,Math.ceil(n.bytes/4)));c++){let h=t[Number((l+c)%BigInt(an))];h.set(l+c,[...h.get(l+c)??[],a])}}let s=Math.max(1,...t.map(a=>a.size)),i=s>16?6:14,r=(je-20)/an;return f`<div class="scroll" tabindex="0" role="region" aria-label="Banks of shared memory"><svg viewBox="0 0 ${je} ${s*i+40}" role="img" aria-label="Words that the lanes need in each of 32 banks; at most ${s} in one bank">
${t.map((a,l)=>ee`<text x=${10+(l+.5)*r} y="12">${l}</text><rect class="bank" x=${10+l*r+2} y="18" width=${r-4} height=${s*i+2} rx="3"/>${[...a.values()].map((c,h)=>ee`<rect class="word ${h>0?"more":""}" x=${10+l*r+4} y=${19+h*i} width=${r-8} height=${i-2} rx="2"><title>bank ${l}: ${c.length===1?"lane":"lanes"} ${c.join(", ")}</title></rect>`)}`)}
    </svg></div><p class="soft">Each column is a bank, each block a word that lanes need. A second block in a column costs a second pass.</p>`}jump(n){return()=>{let e=this.model;for(let t=this.step+n;t>=0&&t<e.steps;t+=n)if(e.instructionAt(t).class==="memory"&&e.accesses(t).some(s=>s.space!=="param"))return this.go(t);this.send("gemu-hover",{text:`No ${n>0?"later":"earlier"} step accesses memory.`})}}render(){let n=this.model;if(!n)return b;if(!n.launch.has.accesses)return f`<p>The recording has no accesses. Record with --with accesses.</p>`;let e=n.accesses(this.step);return f`<p class="where"><button @click=${this.jump(-1)}>← access before</button><button @click=${this.jump(1)}>next access →</button>${e.length===0?f`<span class="soft">This step does not access memory.</span>`:b}</p>
      ${e.slice(0,8).map(t=>f`<div class="card"><p>${this.sentence(t)}</p>${t.space==="shared"?this.comb(t):t.sectors>0?this.sectors(t):b}</div>`)}`}};customElements.define("gemu-memory",ln);function vs(o){if(o.length<4)throw new Error("the answer of the engine is empty");let n=new DataView(o.buffer,o.byteOffset).getUint32(0,!0);if(n>o.length-4)throw new Error("the answer of the engine is cut off");return{response:JSON.parse(new TextDecoder().decode(o.subarray(4,4+n))),recording:o.slice(4+n)}}var cn=class{async run(n,e){let t=await fetch("run",{method:"POST",headers:{"Content-Type":"application/json"},body:JSON.stringify(n),signal:e});if(!t.ok)throw new Error(`gemu play answers ${t.status}: ${(await t.text()).trim()||t.statusText}`);return vs(new Uint8Array(await t.arrayBuffer()))}async examples(){let n=await fetch("examples.json");return n.ok?await n.json():[]}},hn=class{constructor(){this.id=0}start(){return this.worker??=new Promise((n,e)=>{let t=globalThis.gemuWorker,s=t?t():new Worker("engine.js"),i=a=>{s.terminate(),this.worker=void 0,e(new Error(a))},r=a=>{a.data.type==="failed"&&i(a.data.message),a.data.type==="ready"&&(s.removeEventListener("message",r),n(s))};s.addEventListener("message",r),s.addEventListener("error",a=>i(a.message||"the engine does not start: this browser may lack WebAssembly"))}),this.worker}async ask(n,e,t){let s=await this.start();return t?.throwIfAborted(),new Promise((i,r)=>{let a=()=>{s.removeEventListener("message",l),s.removeEventListener("error",h),t?.removeEventListener("abort",p)},l=u=>{u.data.type==="failed"&&c(new Error(u.data.message)),e(u.data)&&(a(),i(u.data))},c=u=>{a(),s.terminate(),this.worker=void 0,r(u)},h=u=>c(new Error(`the engine has failed: ${u.message}`)),p=()=>c(t.reason);s.addEventListener("message",l),s.addEventListener("error",h),t?.addEventListener("abort",p),s.postMessage(n)})}async run(n,e){let t=++this.id,s=await this.ask({type:"run",id:t,request:n},i=>i.type==="response"&&i.id===t,e);return vs(new Uint8Array(s.bytes))}async examples(){return(await this.ask({type:"examples"},n=>n.type==="examples")).examples}};function bs(o){if(o==="http")return new cn;if(o==="wasm")return new hn}var Ai=/`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|!\[[^\]]*\]\([^)]*\)|\[([^\]]+)\]\([^)]*\)/g;function ve(o){let n=[],e=0;for(let t of o.matchAll(Ai))t.index>e&&n.push(o.slice(e,t.index)),t[1]?n.push(f`<code>${t[1]}</code>`):t[2]?n.push(f`<b>${ve(t[2])}</b>`):t[3]?n.push(f`<em>${ve(t[3])}</em>`):t[4]&&n.push(...ve(t[4])),e=t.index+t[0].length;return e<o.length&&n.push(o.slice(e)),n}function un(o){let n=[];for(let[e,t]of o.split(/^```.*$/m).entries()){if(e%2===1){n.push(f`<pre tabindex="0" aria-label="Code">${t.replace(/^\n|\n$/g,"")}</pre>`);continue}for(let s of t.split(/\n\s*\n/)){let i=s.trim();if(!i||/^!\[[^\]]*\]\([^)]*\)$/.test(i)||i.startsWith("<!--"))continue;let r=/^(#+)\s+(.*)$/.exec(i);if(r)r[1].length>1&&n.push(f`<h2>${ve(r[2])}</h2>`);else if(i.startsWith("|")){let l=i.split(`
`).filter(c=>!/^\|[\s|:-]+\|$/.test(c)).map(c=>c.replace(/^\||\|$/g,"").split("|").map(h=>h.trim()));n.push(f`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><tbody>${l.map((c,h)=>f`<tr>${c.map(p=>h?f`<td>${ve(p)}</td>`:f`<th scope="col">${ve(p)}</th>`)}</tr>`)}</tbody></table></div>`)}else/^([-*]|\d+\.)\s/.test(i)?n.push(f`<ul>${i.split(/\n(?=(?:[-*]|\d+\.)\s)/).map(a=>f`<li>${ve(a.replace(/^([-*]|\d+\.)\s+/,"").replace(/\n\s*/g," "))}</li>`)}</ul>`):n.push(f`<p>${ve(i.replace(/\n\s*/g," "))}</p>`)}}return n}var Mt="#v1:",Mi=4<<20;function ws(o){let n=es(new TextEncoder().encode(JSON.stringify(o)),{level:9}),e="";for(let t of n)e+=String.fromCharCode(t);return Mt+btoa(e).replaceAll("+","-").replaceAll("/","_").replace(/=+$/,"")}function pn(o){if(!o.startsWith("#v"))return;if(!o.startsWith(Mt))throw new Error("the link was made by another version of the page: this page reads links that begin with "+Mt);let n;try{let e=atob(o.slice(Mt.length).replaceAll("-","+").replaceAll("_","/")),t=Uint8Array.from(e,i=>i.charCodeAt(0)),s=yt(t,{out:new Uint8Array(Math.min(Mi,t.length*1032+1))});n=JSON.parse(new TextDecoder("utf-8",{fatal:!0}).decode(s))}catch{throw new Error("the link is damaged: a part of it may be missing. Copy it again")}return Ei(n)}function Ei(o){let n=o,e=c=>typeof c=="number"&&Number.isFinite(c)&&c>=-1?Math.floor(c):void 0,t=c=>typeof c=="string"?c:"",s=c=>Array.isArray(c)?c.map(t):[],i=c=>{let[h,p,u]=Array.isArray(c)?c.map(e):[];return[h??1,p??1,u??1]},r=n?.request;if(typeof r!="object"||r===null||typeof r.source!="string")throw new Error("the link holds no program");let a=n.view&&e(n.view.from)!==void 0&&e(n.view.to)!==void 0&&n.view.to>n.view.from?{from:Math.max(0,e(n.view.from)),to:e(n.view.to)}:void 0,l=Object.fromEntries(Object.entries(r.files??{}).filter(([,c])=>typeof c=="string"));return{request:{name:t(r.name)||"kernel.ptx",source:r.source,kernel:t(r.kernel),grid:i(r.grid),block:i(r.block),arguments:s(r.arguments),warp:e(r.warp),sm:t(r.sm)||void 0,maxEvents:e(r.maxEvents),maxSteps:e(r.maxSteps),shared:e(r.shared),set:s(r.set),files:l},policies:s(n.policies).filter(Boolean).slice(0,8),policy:t(n.policy)||void 0,step:e(n.step),cta:e(n.cta),warp:e(n.warp),lane:e(n.lane),register:t(n.register)||void 0,pane:t(n.pane)||void 0,view:a,predict:n.predict===!0}}function de(o,n){return n<0?"the end":`line ${o.instructions[n].line}`}function Fe(o,n,e,t){return`${H(o,n)} ${U(o)===1?t:e}`}var pe=o=>o[0].toUpperCase()+o.slice(1);function Re(o,n,e=!1){let t=o.launch,s=o.lanes;if(n>=o.steps)return{head:"The end",code:"",rest:lt(o)};let i=o.instructionAt(n),[r,a]=[o.active(n),o.executing(n)],l={head:`Step ${n+1}, line ${i.line}`,code:i.text,rest:""},c=[],h=i.text.startsWith("@"),p=o.branches(n);if(h&&!p&&!he(r,a)?c.push(z(a)?`${pe(H(r,s))} ${U(r)===1?"is":"are"} here, but the guard holds for none.`:`The guard holds for ${H(a,s)} of ${U(r)}.`):c.push(`${pe(H(r,s))} ${U(r)===1?"executes":"execute"} it.`),e)return l.rest=c.join(" "),l;let u=o.outcome(n);return u.split&&u.groups.length>1?c.push(`The warp splits: ${u.groups.map(d=>`${Fe(d.lanes,s,"go","goes")} to ${de(t,d.instruction)}`).join(", ")}.`):h&&p&&u.groups.length===1&&c.push(z(a)?"No lane takes the branch.":`All take the branch, to ${de(t,u.groups[0].instruction)}.`),u.called&&c.push(`They call ${u.called}.`),z(u.waiting)||c.push(`${pe(Fe(u.waiting,s,"wait","waits"))} ${u.barrier>=0?`at barrier ${u.barrier}`:"for other lanes of the warp"}.`),!z(u.woken)&&z(xe(u.woken,u.waiting))&&c.push(`${pe(Fe(u.woken,s,"go on","goes on"))}.`),z(u.ended)||c.push(`${pe(Fe(u.ended,s,"end","ends"))}.`),z(u.reconverged)?n+1<o.steps&&!he(r,o.active(n+1))&&!(z(u.waiting)&&he(W(r,u.ended),o.active(n+1)))&&c.push(`Next ${Fe(o.active(n+1),s,"run","runs")}, at line ${o.line(n+1)}.`):c.push(`${pe(Fe(u.reconverged,s,"are","is"))} together again${n+1<o.steps?`, at line ${o.line(n+1)}`:""}.`),u.trap&&c.push(`The kernel stops: ${u.trap}.`),l.rest=c.join(" "),l}var at=o=>`${o.head}${o.code?`: ${o.code}.`:"."} ${o.rest}`;function lt(o){let n=o.launch,e=W(o.lanes,o.ended(o.steps));if(z(e))return"All lanes have ended.";let t=o.state(o.steps).groups.filter(i=>i.reason!=="ended").map(i=>`${H(i.lanes,o.lanes)} ${U(i.lanes)===1?"is":"are"} at ${de(n,i.instruction)}`);return o.steps===0?`No step was recorded. ${pe(t.join(", "))}.`:`${{deadlock:"Deadlock: no thread can make progress",trap:"The kernel has failed",stopped:pe(ct(n)),done:"The recording ends here"}[n.outcome]}. ${pe(t.join(", "))}.`}var Ve=o=>o.outcome==="deadlock";function ct(o){let n=/\b(stopped at the limit of [^:;]+)|\b((?:step|time) limit reached)/.exec(o.error);return n?.[1]??(n?`stopped: ${n[2]}`:"stopped at the limit of the recording")}function Ge(o,n,e){switch(n.reason){case"runs":return"run now";case"masked":return"are here, but the guard does not hold";case"ready":return z(n.missing)?"wait while the policy runs other lanes":`wait for ${H(n.missing,o.lanes)}, which ${o.launch.policy.startsWith("its")?"take turns with them":U(n.missing)===1?"runs first":"run first"}; they meet at ${de(o.launch,n.point)}`;case"joins":return z(n.missing)?`wait at the reconvergence point, ${de(o.launch,n.point)}`:`wait at the reconvergence point for ${H(n.missing,o.lanes)}`;case"barrier":return`wait at the barrier in ${de(o.launch,n.instruction)} for ${Si(o,n,e)}`;case"collective":return"wait for the other lanes that the instruction names";case"stuck":return Ve(o.launch)?"can never continue":"are here when the recording ends";case"waits":return"wait until the policy runs them";case"ended":return"have ended";case"absent":return"have no thread"}}function Si(o,n,e){let t=e.filter(s=>s!==n&&!["ended","absent"].includes(s.reason));return t.length===0?"other threads of the CTA":t.map(s=>H(s.lanes,o.lanes)+(s.reason==="barrier"?`, which ${U(s.lanes)===1?"waits":"wait"} at the barrier in ${de(o.launch,s.instruction)}`:"")).join(", and ")}function xs(o,n,e){let t=o.state(n),s=t.groups[t.group[e]];if(!s)return`Lane ${e} has no thread.`;let i=s.instruction>=0?` – line ${o.launch.instructions[s.instruction].line}: ${o.launch.instructions[s.instruction].text}`:"",r=Ge(o,s,t.groups).replace(/^(run|wait)\b/,"$1s").replace(/^are\b/,"is").replace(/^have\b/,"has");return`Step ${n+1}, lane ${e} ${r}${i}`}function ys(o){let n=o.counts(),e=U(o.lanes);if(n.steps===0)return"No instruction is recorded.";let t=`${n.steps.toLocaleString("en")} ${n.steps===1?"instruction":"instructions"}`;if(n.partial===0)return`${t}, each executed by all ${e} lanes.`;let s=n.steps-n.activeSum/o.launch.warpSize;return`${t}; in ${n.partial.toLocaleString("en")} of them some lanes do not run. ${(n.used*100).toFixed(0)} % of the lanes are used: as if ${s<10?s.toFixed(1):Math.round(s).toLocaleString("en")} steps were wasted.`}var $s=K`
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
.state {
grid-row: 1;
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
`;var ks=[["registers","Registers"],["memory","Memory"],["flow","Control flow"],["results","Results"]],Li=["auto","stack","its","its:1","its:8","pc2","frontier","stack-wait","pc2-wait"];function dn(o){let[n,e]=o.split(":");return{auto:"as stack, as long as the launch makes progress; then time slices",stack:"GPUs before Volta: the newest warp split first, up to its reconvergence point",its:`GPUs since Volta: all warp splits in rotation, ${e?Se(Number(e),"instruction"):"256 instructions"} each`,pc2:"the warp split at the lowest address; warp splits that branched backwards wait",frontier:"thread frontiers: the warp split that is first in the control flow","stack-wait":"as stack; lanes wait at the end of the kernel, too","pc2-wait":"as pc2; lanes wait at the end of the kernel, too"}[n]??""}var Ti=2e5,zi=500,fn=class extends me{constructor(){super(...arguments);this.src="";this.runs=[];this.main=0;this.step=0;this.warpIndex=0;this.lane=-1;this.register="";this.pane="registers";this.predict=!1;this.revealed=1/0;this.picked=j;this.hover="";this.lines=new Set;this.playing=!1;this.editing=!1;this.examples=[];this.message="";this.marks=[];this.link="";this.policies=["stack"];this.dropping=!1;this.help=!1;this.timer=0;this.edited="";this.zoomed=!1;this.onHash=()=>{try{let e=pn(location.hash);e&&this.engine&&this.openPlace(e)}catch(e){this.message=e.message}};this.rememberTimer=0;this.onStep=e=>{e.preventDefault(),this.pause(),this.go(e.detail.step)};this.onZoom=e=>{e.preventDefault(),this.view=e.detail.view,this.zoomed=!0};this.hoverTimer=0;this.onHover=e=>{clearTimeout(this.hoverTimer);let t=e.detail.text;t?this.hover=t:this.hoverTimer=window.setTimeout(()=>this.hover="",300)};this.onKey=e=>{if(e.key==="Escape"&&this.help&&(this.help=!1),e.ctrlKey||e.metaKey||e.altKey)return;let t=e.composedPath();if(t.some(l=>l instanceof HTMLElement&&(/^(INPUT|SELECT|TEXTAREA)$/.test(l.tagName)||l.isContentEditable||l.tagName==="DIALOG"))&&!(t[0]instanceof HTMLInputElement&&t[0].type==="range"&&e.shiftKey))return;let i=t.some(l=>l instanceof HTMLElement&&l.getAttribute("role")==="region"),r=t.some(l=>l instanceof HTMLElement&&/^(BUTTON|SUMMARY|A)$/.test(l.tagName)),a={ArrowRight:()=>e.shiftKey?this.turn(1):this.go(this.step+1),ArrowLeft:()=>e.shiftKey?this.turn(-1):this.go(this.step-1),Home:()=>this.go(0),End:()=>this.go(this.last)," ":()=>this.togglePlay()};!a[e.key]||i&&!e.shiftKey||e.key===" "&&r||this.runs.length===0||(e.key!==" "&&this.pause(),a[e.key](),e.preventDefault())};this.onMessage=e=>{let t=e.data;if(e.source!==parent||parent===window||typeof t!="object"||!t||typeof t.gemu!="string")return;({step:()=>this.go(Number(t.step)||0),next:()=>this.go(this.step+1),back:()=>this.go(this.step-1),"next-split":()=>this.turn(1),"previous-split":()=>this.turn(-1),state:()=>this.post(this.report()),open:()=>this.openBytes((t.recordings??[]).map(i=>({name:String(i.name),bytes:new Uint8Array(i.bytes)}))),run:()=>{t.request&&(this.request=t.request),Array.isArray(t.policies)&&t.policies.length&&(this.policies=t.policies.map(String)),this.runAll().then(()=>this.post(this.report()))}})[t.gemu]?.()}}static{this.properties={src:{},runs:{state:!0},main:{state:!0},step:{state:!0},warpIndex:{state:!0},lane:{state:!0},register:{state:!0},view:{state:!0},pane:{state:!0},predict:{state:!0},revealed:{state:!0},picked:{state:!0},verdict:{state:!0},hover:{state:!0},lines:{state:!0},playing:{state:!0},editing:{state:!0},example:{state:!0},examples:{state:!0},message:{state:!0},marks:{state:!0},link:{state:!0},policies:{state:!0},request:{state:!0},dropping:{state:!0},help:{state:!0}}}static{this.styles=[ne,$s]}connectedCallback(){super.connectedCallback(),this.addEventListener("gemu-step",this.onStep),this.addEventListener("gemu-hover",this.onHover),this.addEventListener("gemu-lines",(e=>this.lines=e.detail.lines)),this.addEventListener("gemu-lane",(e=>this.lane=e.detail.lane)),this.addEventListener("gemu-register",(e=>this.register=this.register===e.detail.name?"":e.detail.name)),this.addEventListener("gemu-zoom",this.onZoom),this.addEventListener("gemu-run-to",(e=>this.runTo(e.detail))),this.addEventListener("gemu-pick",(e=>this.pick(e.detail.lane))),addEventListener("keydown",this.onKey),addEventListener("message",this.onMessage),addEventListener("hashchange",this.onHash),this.begin()}disconnectedCallback(){super.disconnectedCallback(),removeEventListener("keydown",this.onKey),removeEventListener("message",this.onMessage),removeEventListener("hashchange",this.onHash),this.pause(),this.abort?.abort(),this.editor?.destroy()}async begin(){let e={};try{let t=this.src?"":document.getElementById("gemu-start")?.textContent?.trim()??"";t&&(e=JSON.parse(t))}catch(t){this.message=`The start of the page cannot be read: ${t.message}`}e.view&&ks.some(([t])=>t===e.view)&&(this.pane=e.view),this.engine=bs(e.engine),e.policies?.length&&(this.policies=e.policies),e.request&&(e.request.arguments??=[]);try{if(this.src){let a=await fetch(this.src);if(!a.ok)throw new Error(`${this.src}: ${a.status} ${a.statusText}`);this.openBytes([{name:this.src,bytes:new Uint8Array(await a.arrayBuffer())}])}else e.recordings?.length&&this.openBytes(e.recordings.map(a=>({name:a.name,bytes:Uint8Array.from(atob(a.base64),l=>l.charCodeAt(0))})));let t=pn(location.hash);if(t&&!this.engine)throw new Error("This page has no engine: it cannot run the program of the link. Open the link with gemu play.");let s="",i=this.engine?this.engine.examples().catch(a=>(s=`The examples cannot be loaded: ${a.message}`,[])):Promise.resolve([]),r=/^#example=([\w-]+)(?:&step=(\d+))?$/.exec(location.hash);if(t?this.openPlace(t):e.request&&!r&&(this.request={...e.request},await this.runAll()),this.examples=await i,s&&(this.message||=s),!t&&(r||!e.request&&!e.recordings?.length)){let a=this.examples.find(l=>l.id===(r?.[1]??e.example))??this.examples[0];a&&await this.openExample(a),r?.[2]&&a?.id===r[1]&&this.go(Number(r[2])-1)}}catch(t){this.message=t.message}await this.updateComplete,this.setAttribute("ready",""),this.post({gemu:"ready"})}openPlace(e){this.request=e.request,this.policies=e.policies.length?e.policies:["stack"],this.example=void 0,this.lane=e.lane??-1,this.register=e.register??"",e.pane&&(this.pane=e.pane),this.firstStep=e,this.runs=[],this.runAll()}async openExample(e){this.example=e,this.request={...e.request},this.policies=e.policies.length?e.policies:["stack"],this.runs=[],this.firstStep=void 0,[this.main,this.step,this.warpIndex,this.lane,this.register,this.view]=[0,0,0,-1,"",void 0],this.zoomed=!1,this.pane=e.id==="memory"?"memory":"registers",this.syncEditor(),this.remember(),await this.runAll()}openBytes(e){this.abort?.abort(),this.pause();let t=[];for(let s of e){let i;try{i=qe(new Ee(s.bytes))}catch(r){t.push({label:s.name,busy:!1,failure:`${s.name}: ${r.message}`});continue}i.length===0&&t.push({label:s.name,busy:!1,failure:`${s.name}: the recording has no launch`});for(let r of i.slice(0,32)){let a=i.length>1||e.length>1,l=i.length>1?`${r.row}: ${r.kernel}`:a&&e.filter(c=>c!==s).length&&t.some(c=>c.label===r.policy)?s.name:r.policy||s.name;t.push({label:l,launch:r,busy:!1,failure:""})}}this.example=void 0,this.request=void 0,this.runs=t,this.policies=[],[this.main,this.step,this.lane,this.register,this.view,this.message]=[Math.max(0,t.findIndex(s=>s.launch)),0,-1,"",void 0,t.every(s=>!s.launch)?t.map(s=>s.failure).join(`
`):""],this.message&&(this.runs=[]),this.warpIndex=0,this.zoomed=!1,this.resetView(),this.resetPrediction()}async runAll(e){if(!this.engine||!this.request)return;this.abort?.abort(),this.pause();let t=this.abort=new AbortController,s=this.model?.steps?{at:this.model.occurrence(this.step),end:this.step>=this.model.steps,cta:this.model.info.cta,warp:this.model.info.warp}:void 0,i=this.runs;this.message="",this.marks=[],this.editor?.setMarks([]),this.runs=this.policies.map(l=>(e&&l!==e?i.find(c=>c.label===l):void 0)??{label:l,launch:i.find(c=>c.label===l)?.launch,busy:!0,failure:""}),this.main=Math.min(this.main,this.runs.length-1);let r=!!e;for(let l of this.policies){if(e&&l!==e)continue;let c;try{let{response:h,recording:p}=await this.engine.run({maxEvents:Ti,memory:!0,...this.request,policy:l},t.signal);c={label:l,response:h,busy:!1,failure:""},p.length&&(c.launch=qe(new Ee(p))[0]),c.launch&&h.status!=="error"&&(c.launch.outcome=h.status),c.launch||(c.failure=h.message||"The run has no recording."),h.status==="error"&&this.refuse(h)}catch(h){if(t.signal.aborted)return;c={label:l,busy:!1,failure:h.message}}if(t.signal.aborted)return;if(this.runs=this.runs.map(h=>h.label===l?c:h),c.launch&&!r&&(l===(this.firstStep?.policy??this.policies[this.main])||this.policies.indexOf(l)===this.policies.length-1)&&(r=!0,this.putAt(c,s)),c.response?.place&&c.response.status==="error"){this.runs=this.runs.map(h=>h.busy?{...c,label:h.label}:h);break}}let a=this.runs.find(l=>l.failure);a&&!this.runs.some(l=>l.launch)&&(this.message=a.failure),this.marks.length&&this.message&&(this.message="");for(let l of this.runs)l.busy=!1;this.runs=[...this.runs],this.zoomed||this.resetView()}putAt(e,t){let s=e.launch,i=this.firstStep;if(this.firstStep=void 0,i)this.main=Math.max(0,this.runs.findIndex(r=>r.label===i.policy)),this.warpIndex=Math.max(0,s.findWarp(i.cta??0,i.warp??0)),this.step=ie(i.step??0,0,this.model?.steps??0),this.view=i.view,this.zoomed=!!i.view,this.predict=i.predict??!1;else if(t){this.warpIndex=Math.max(0,s.findWarp(t.cta,t.warp));let r=this.model;if(r){let a=t.end?r.steps:r.find(t.at);this.step=a>=0?a:ie(this.step,0,r.steps)}this.zoomed=!1}else this.step=0;this.zoomed||this.resetView(),this.resetPrediction()}refuse(e){this.editing=!0,e.place&&(this.marks=[{line:e.place.line,column:e.place.column,message:e.message}]),this.updateComplete.then(()=>{this.editor?.setMarks(this.marks);let t=[...this.renderRoot.querySelectorAll(".argument input")];e.place||(t[e.argument??-1]??t.find(s=>!s.value))?.focus()})}get launchedKernel(){let e=this.runs.find(t=>t.response?.kernels?.length)?.response?.kernels??[];return e.find(t=>t.name===this.request?.kernel)??e[0]}missing(){let e=(this.launchedKernel?.parameters??[]).filter((t,s)=>!this.request?.arguments[s]);return e.length===0||!this.runs.some(t=>t.response?.status==="error")?"":`Missing arguments, in the form below: ${e.map(t=>`${t.name}: ${/64$/.test(t.type)?"an array such as u32[32], or u32[32]=iota":`a number of type ${t.type}, such as 32`}`).join("; ")}. Then press Run.`}stopRuns(){this.abort?.abort(),this.runs=this.runs.map(e=>e.busy?{...e,busy:!1,failure:"You have stopped this run."}:e)}get model(){return this.modelOf(this.runs[this.main])}modelOf(e){let t=e?.launch;if(!t?.warps.length)return;let s=this.runs[this.main]?.launch;if(t===s||!s?.warps[this.warpIndex])return t.warp(Math.min(this.warpIndex,t.warps.length-1));let{cta:i,warp:r}=s.warps[this.warpIndex],a=t.findWarp(i,r);return a<0?void 0:t.warp(a)}get asking(){return this.predict&&this.step===this.revealed&&!!this.model?.asksAt(this.step)}resetView(){let e=this.runs.map(a=>this.modelOf(a)).filter(a=>a!==void 0),t=Math.max(0,...e.map(a=>a.steps)),s=e.filter(a=>a.launch.outcome==="done").map(a=>a.steps),i=s.length?Math.min(...s):t,r=(s.length&&e.some(a=>a.launch.outcome!=="done")?Math.max(...s):Math.min(t,Math.max(i*3,80)))+1;this.view={from:0,to:r},this.keepInView()}keepInView(){let e=this.view;if(!e||this.step>=e.from&&this.step<e.to)return;let t=e.to-e.from,s=Math.max(1,...this.runs.map(r=>(this.modelOf(r)?.steps??0)+1)),i=ie(Math.round(this.step-(this.step<e.from?t*.75:t*.25)),0,Math.max(0,s-t));this.view={from:i,to:i+t}}get last(){return Math.min(this.revealed,Math.max(this.model?.steps??0,...this.runs.map(e=>this.modelOf(e)?.steps??0)))}go(e){let t=ie(e,0,this.last);t!==this.step&&(this.verdict=void 0),this.predict&&e>this.revealed&&this.updateComplete.then(()=>this.renderRoot.querySelector(".question")?.focus()),this.step=t,this.keepInView(),this.remember(),this.post(this.report())}remember(){if(clearTimeout(this.rememberTimer),!this.example||this.changed||parent!==window)return;let e=`#example=${this.example.id}&step=${this.step+1}`;this.rememberTimer=window.setTimeout(()=>history.replaceState(null,"",e),200)}get changed(){let e=t=>JSON.stringify([t.source,t.kernel||"",t.grid,t.block,t.arguments,t.warp||32]);return!!this.example&&!!this.request&&e(this.example.request)!==e(this.request)}turn(e){let t=this.model;if(!t)return;let s=t.turningPoints(),i=e>0?s.find(r=>r>this.step):s.findLast(r=>r<this.step);this.go(i??(e>0?t.steps:0))}runTo(e){let t=this.model;if(!t)return;let s=t.nextAtLine(this.step,i=>e.source?i.sourceLine===e.line&&i.sourceFile===e.file:i.line===e.line);if(s>=0)return this.go(s);this.hover=`The warp never executes line ${e.line}.`}togglePlay(){if(this.playing||!this.last)return this.pause();this.step>=this.last&&this.go(0),this.playing=!0,this.timer=window.setInterval(()=>{this.step>=this.last?this.pause():this.go(this.step+1)},zi)}pause(){clearInterval(this.timer),this.playing=!1}nextQuestion(e){let t=this.model;if(!t)return 1/0;for(let s=e;s<t.steps;s++)if(t.asksAt(s))return s;return 1/0}resetPrediction(){this.verdict=void 0,this.picked=j,this.revealed=this.predict?this.nextQuestion(this.step):1/0}setPredict(e){this.predict=e,this.pause(),this.resetPrediction()}pick(e){this.verdict=void 0,this.picked=I(this.picked,e)?W(this.picked,Ne([e])):G(this.picked,Ne([e]))}check(){let e=this.model,t=e.active(this.step+1),s=G(W(t,this.picked),W(this.picked,t));if(he(t,this.picked)){let a=Re(e,this.step);this.reveal({right:!0,text:`Right: ${H(t,e.lanes)} ${U(t)===1?"runs":"run"} next, at line ${e.line(this.step+1)}. ${a.rest.replace(/^[^.]*\.\s*/,"")}`});return}let i=/^@!?(%\w+)/.exec(e.instructionAt(this.step).text)?.[1],r=i?` Look at ${i} of each lane, and which side the policy runs first.`:" Look at the groups of lanes, and for what each waits.";i&&(this.register=i),this.verdict={right:!1,text:`Not yet: ${U(s)===1?"one lane is":`${U(s)} lanes are`} different.${r}`}}reveal(e){this.verdict=e,this.picked=j,this.revealed=this.nextQuestion(this.step+1),this.updateComplete.then(()=>this.renderRoot.querySelector(".verdict")?.focus())}giveUp(){let e=this.model,t=e.active(this.step+1);this.reveal({right:!1,text:`${H(t,e.lanes)[0].toUpperCase()}${H(t,e.lanes).slice(1)} ${U(t)===1?"runs":"run"} next, at line ${e.line(this.step+1)}.`})}async openFiles(e){let t=[...e].slice(0,8);if(t.length===0)return;let s=await Promise.all(t.map(async r=>({name:r.name,bytes:new Uint8Array(await r.arrayBuffer())}))),i=s.find(r=>/\.(ptx|cu)$/i.test(r.name));i&&this.engine?(this.example=void 0,this.request={name:i.name,source:new TextDecoder().decode(i.bytes),kernel:"",grid:[1,1,1],block:[32,1,1],arguments:[]},this.runs=[],this.editing=!0,this.syncEditor(),await this.runAll()):this.openBytes(s)}share(){let e=this.model;if(!this.request)return;let t=ws({request:this.request,policies:this.policies,policy:this.runs[this.main]?.label,step:this.step,cta:e?.info.cta,warp:e?.info.warp,lane:this.lane>=0?this.lane:void 0,register:this.register||void 0,pane:this.pane,view:this.view,predict:this.predict||void 0});history.replaceState(null,"",t),this.link=location.href,navigator.clipboard?.writeText(this.link).catch(()=>{}),this.updateComplete.then(()=>{let s=this.renderRoot.querySelector("dialog.link");s?.showModal(),s?.querySelector("input")?.select()})}post(e){parent!==window&&parent.postMessage(e,"*")}report(){let e=this.model;return{gemu:"state",step:this.step,steps:e?.steps??0,line:e?.line(this.step)??0,policy:this.runs[this.main]?.label??"",sentence:e?at(Re(e,this.step,this.asking)):"",height:document.documentElement.scrollHeight}}syncEditor(){this.edited=this.request?.source??"",this.editor&&this.editor.text!==this.edited&&this.editor.setText(this.edited)}async openEditor(){let e=this.renderRoot.querySelector(".editor-host");if(!(!e||this.editor||e.dataset.loading)){e.dataset.loading="1";try{let t=globalThis.gemuEditor?.()??new URL("./editor.js",import.meta.url).href,{createEditor:s}=await import(t);if(!e.isConnected)return;e.textContent="",this.edited=this.request?.source??"",this.editor=s({parent:e,root:this.renderRoot,text:this.edited,label:"Program",changed:()=>this.edited=this.editor.text,run:()=>this.runEdited()}),this.marks.length&&this.editor.setMarks(this.marks)}catch(t){e.textContent=`The editor cannot be loaded: ${t.message}`}delete e.dataset.loading}}runEdited(){let e=this.renderRoot.querySelector("form.launch");if(!e||!this.request)return;let t=new FormData(e),s=i=>{let[r,a,l]=String(t.get(i)??"").split(/[\s,x×]+/).filter(Boolean).map(c=>Math.max(1,Math.floor(Number(c))||1));return[r??1,a??1,l??1]};this.request={...this.request,source:this.editor?.text??this.request.source,kernel:String(t.get("kernel")??""),grid:s("grid"),block:s("block"),warp:Number(t.get("warp"))||32,arguments:t.getAll("argument").map(i=>String(i).trim()).filter((i,r,a)=>i||r<a.length-1)},this.runAll()}updated(e){this.editing?this.openEditor():this.editor&&(this.editor.destroy(),this.editor=void 0),(e.has("main")||e.has("warpIndex"))&&this.keepInView();let t=this.model;document.title=t?`${t.launch.kernel} – gemu`:"gemu: see warps run"}header(){let e=this.model?.launch;return f`<header>
<span class="brand" aria-hidden="true">ge<b>mu</b></span>
${this.examples.length?f`<label class="field"><span class="hidden">Example</span><select aria-label="Example" @change=${t=>this.chooseExample(t.target.value)}>
            ${this.example?b:f`<option selected value="">Your program</option>`}
            ${this.examples.map((t,s)=>f`<option value=${t.id} ?selected=${t.id===this.example?.id}>${s+1}. ${t.title}</option>`)}
          </select></label>`:b}
      <h1>${this.example?.title??e?.kernel??"See warps run"}</h1>
      ${e?f`<span class="shape">${this.example?f`kernel <span class="mono">${e.kernel}</span>, `:""}${Ci(e)}</span>`:b}
      <nav aria-label="Page">
        ${this.engine?f`<button aria-pressed=${this.editing} @click=${()=>this.editing=!this.editing} ?disabled=${!this.request}>Edit</button>`:b}
        <button @click=${()=>this.renderRoot.querySelector("#file").click()}>Open…</button>
        <input id="file" type="file" hidden multiple aria-label="Recordings" @change=${t=>this.openFiles(t.target.files??[])} />
        ${this.engine?f`<button @click=${this.share} ?disabled=${!this.request}>Share</button>`:b}
        <button aria-expanded=${this.help} @click=${()=>this.help=!this.help}>Help</button>
      </nav>
    </header>`}chooseExample(e){let t=this.examples.find(s=>s.id===e);t&&this.openExample(t)}intro(){let e=this.example;if(!e)return b;let t=e.moment;return f`<section class="intro" aria-label="Example">
<p class="ask"><b>${ve(e.question.replace(/\s+/g," ").trim())}</b></p>
${t?f`<button @click=${()=>this.toMoment(t)}>Show the moment</button>`:b}
      ${this.changed?f`<span class="soft">changed <button class="small" @click=${()=>this.openExample(e)}>Restore</button></span>`:b}
      ${e.text?f`<details><summary>Read</summary><div class="prose">${un(e.text.split(/^## Question$/m)[0])}${e.cuda&&!e.text.includes("```cuda")?f`<pre tabindex="0" aria-label="CUDA C">${e.cuda}</pre>`:b}</div></details>`:b}
      ${e.answer?f`<details><summary>Answer</summary><div class="prose">${un(e.answer)}</div></details>`:b}
    </section>`}toMoment(e){let t=this.runs.findIndex(s=>s.label===e.policy&&s.launch);t>=0&&(this.main=t),this.warpIndex=Math.max(0,this.runs[this.main]?.launch?.findWarp(0,e.warp??0)??0),this.predict&&this.setPredict(!1),this.go(e.step-1)}transport(){let e=this.model;if(!e)return b;let t=e.steps,s=t===0?"no step was recorded":this.step>=t?`the end, after ${Se(t,"step")}`:`step ${(this.step+1).toLocaleString("en")} of ${this.predict&&this.revealed<t?"?":t.toLocaleString("en")}`;return f`<div class="transport" role="toolbar" aria-label="Steps">
<div class="buttons">
<button class="icon" aria-label="To the start" title="To the start (Home)" @click=${()=>this.moved(()=>this.go(0))} ?disabled=${this.step===0}>${Ie("start")}</button>
<button class="icon" aria-label="Previous split" title="Previous split or reconvergence (Shift ←)" @click=${()=>this.moved(()=>this.turn(-1))} ?disabled=${this.step===0}>${Ie("previous")}</button>
<button class="icon" aria-label="Step back" title="Step back (←)" @click=${()=>this.moved(()=>this.go(this.step-1))} ?disabled=${this.step===0}>${Ie("back")}</button>
<button class="icon play" aria-label=${this.playing?"Pause":"Play"} title="Play (space)" @click=${this.togglePlay} ?disabled=${t===0}>${Ie(this.playing?"pause":"play")}</button>
<button class="icon primary" aria-label="Step" title="Step (→)" @click=${()=>this.moved(()=>this.go(this.step+1))} ?disabled=${this.step>=this.last&&!this.asking}>${Ie("forward")}</button>
<button class="icon" aria-label="Next split" title="Next split or reconvergence (Shift →)" @click=${()=>this.moved(()=>this.turn(1))} ?disabled=${this.step>=this.last}>${Ie("next")}</button>
<button class="icon" aria-label="To the end" title="To the end (End)" @click=${()=>this.moved(()=>this.go(this.last))} ?disabled=${this.step>=this.last}>${Ie("end")}</button>
</div>
<input type="range" min="0" max=${Number.isFinite(this.revealed)?Math.min(this.revealed,t):Math.max(t,this.last)} .value=${String(this.step)} aria-label="Step" aria-valuetext=${s} @input=${i=>this.moved(()=>this.go(Number(i.target.value)))} />
<output class="position">${s}</output>
<label class="check"><input type="checkbox" .checked=${this.predict} @change=${i=>this.setPredict(i.target.checked)} /> Predict first</label>
</div>`}moved(e){this.pause(),e()}say(){let e=this.model;if(!e)return b;let t=Re(e,Math.min(this.step,e.steps),this.asking);return f`<div class="say">
<p class="sentence" role="status" aria-live="polite" aria-atomic="true"><b>${t.head}</b>${t.code?f` <code>${t.code}</code> `:". "}<span>${t.rest}</span></p>
      <p class="hover" aria-hidden="true">${this.hover||f`<span class="faint">Point at a strip, a line or a lane: what it does is explained here.</span>`}</p>
    </div>`}strip(e,t){let s=this.modelOf(e),i=t===this.main,r=this.model;if(!s)return f`<section class="strip" aria-label="Policy ${e.label}"><div class="strip-title"><b class="mono">${e.label}</b> ${e.busy?f`<span class="soft">running…</span>`:f`<span class="bad">${e.launch?"The recording has no events of this warp.":e.failure.split(`
`)[0]}</span>`} ${this.stripTools(e)}</div></section>`;let a=this.runs.filter(h=>h.launch).length,l=s.launch.warpSize,c=l<=8?13:Math.max(3,Math.round((a===1?6:a===2?4.5:3.5)*32/Math.max(l,16)));return f`<section class="strip ${i&&a>1?"chosen":""}" aria-label="Policy ${e.label}">
<gemu-strip .model=${s} .step=${Math.min(this.step,s.steps)} .label=${e.label} .laneHeight=${c} .view=${this.view} .revealed=${this.predict?this.revealed:1/0} .other=${i?void 0:r} .otherLabel=${this.runs[this.main]?.label??""} .lane=${this.lane} .lines=${this.lines}>
${a>1?f`<button slot="title" class="pick" aria-pressed=${i} title="Show the state of this run: ${dn(e.label)}" @click=${()=>this.choose(t)}>${e.label}</button>`:f`<span slot="title" title=${dn(e.label)}>${e.label}</span>`}
        <span slot="tools">${e.busy?f`<span class="busy" role="status">running…</span>`:b}${this.stripTools(e)}</span>
      </gemu-strip>
    </section>`}choose(e){let t=this.model?.info;this.main=e;let s=this.runs[e]?.launch;t&&s&&(this.warpIndex=Math.max(0,s.findWarp(t.cta,t.warp))),this.resetPrediction()}stripTools(e){return!this.engine||!this.request?b:f`${e.busy?f`<button class="small" @click=${this.stopRuns}>Stop</button>`:b}${this.policies.length>1?f`<button class="small" aria-label="Remove ${e.label}" title="Remove" @click=${()=>this.removePolicy(e.label)}>✕</button>`:b}`}removePolicy(e){this.policies=this.policies.filter(t=>t!==e),this.runs=this.runs.filter(t=>t.label!==e),this.main=ie(this.main,0,this.runs.length-1),this.resetView(),this.resetPrediction()}addPolicy(e){let t=e.target,s=t.value.trim();t.value="",!(!s||this.policies.includes(s)||this.policies.length>=8)&&(this.policies=[...this.policies,s],this.runAll(s))}timeline(){let e=this.runs.map((t,s)=>this.strip(t,s));return f`<section class="time" aria-label="Time">
<div class="bar"><h2>Every step of every lane</h2>
${this.engine&&this.request?f`<label class="field">add a policy <select @change=${this.addPolicy}><option value="">…</option>${Li.filter(t=>!this.policies.includes(t)).map(t=>f`<option value=${t} title=${dn(t)}>${t}</option>`)}</select></label>
              <label class="field">time slice <input class="slice" type="number" min="1" max="4096" placeholder="its:N" @change=${t=>this.addSlice(t)} /></label>`:b}
        <span class="soft hint">drag to zoom</span>
      </div>
      ${e}
    </section>`}addSlice(e){let t=e.target,s=Math.floor(Number(t.value));if(t.value="",s<1)return;let i=`its:${s}`;this.policies.includes(i)||this.policies.length>=8||(this.policies=[...this.policies,i],this.runAll(i))}card(){if(this.message)return f`<section class="card bad-card" role="alert"><h2>${this.runs.length?"The program does not run":"gemu says"}</h2><pre>${this.message}</pre>${this.missing()?f`<p>${this.missing()}</p>`:b}</section>`;let e=this.runs[this.main],t=this.model,s=e?.launch?.trap,i=s&&t&&(s.cta!==t.info.cta||s.warp!==t.info.warp)?e.launch.findWarp(s.cta,s.warp)+1:0;if(!e?.launch||e.launch.outcome==="done"||!t||!i&&this.step<t.steps-1||this.predict&&this.revealed<t.steps)return b;if(e.launch.outcome==="stopped")return f`<section class="card" aria-label="How the run ends"><h2>Stopped</h2><p>${pe(ct(e.launch))}. Later steps are not shown.</p></section>`;let r=e.response?.message||e.launch.error;return f`<section class="card bad-card" aria-label="How the run ends"><h2>${Ve(e.launch)?"Deadlock":"The kernel has failed"}</h2>${Ve(e.launch)?f`<p>Lanes wait for something that no lane will ever do. gemu says:</p>`:b}<pre tabindex="0" aria-label="Message">${r}</pre>${i?f`<button @click=${()=>(this.chooseWarp(i-1),this.go(this.model.steps))}>Go to CTA ${e.launch.ctaName(s.cta)} warp ${s.warp}</button>`:b}</section>`}question(){let e=this.model;if(!this.asking)return this.verdict?f`<p class="verdict ${this.verdict.right?"good":"no"}" role="status" tabindex="-1">${this.verdict.right?"✓ ":""}${this.verdict.text}</p>`:b;let t=W(e.lanes,e.ended(this.step+1));return f`<div class="question" tabindex="-1" role="group" aria-label="Prediction">
<p><b>Which lanes run next?</b> Press them in the cells below, then check. The future is not drawn yet.</p>
<div class="buttons">
<button @click=${()=>this.pickAll(t)}>All</button><button @click=${()=>this.pickAll(j)}>None</button><button @click=${()=>this.pickAll(W(t,this.picked))}>Invert</button>
<button class="primary" @click=${this.check} ?disabled=${z(this.picked)}>Check</button><button @click=${this.giveUp}>Show me</button>
<span class="soft">${z(this.picked)?"none chosen":H(this.picked,e.lanes)}</span>
</div>
${this.verdict?f`<p class="verdict no" role="status" tabindex="-1">${this.verdict.text}</p>`:b}
    </div>`}pickAll(e){this.verdict=void 0,this.picked=e}warps(){let e=this.runs[this.main]?.launch;if(!e||e.warps.length<2)return b;let t=this.model.eventOf(this.step),s=e.warps.length<=64?e.warps:e.warps.slice(0,64);return f`<details class="warps" open>
<summary>${Se(e.warps.length,"warp")} at this moment</summary>
<div class="warp-list" role="group" aria-label="Warps">
${s.map((i,r)=>{let a=e.warp(r),l=r===this.warpIndex?this.step:a.stepAtEvent(t),c=a.instructionAt(Math.min(l,a.steps-1))?.block??-1,h=U(a.active(l)),p=l>=a.steps;return f`<button aria-pressed=${r===this.warpIndex} style=${le(c)} @click=${()=>this.chooseWarp(r)} title="${p?"ended":`${h} of ${U(a.lanes)} lanes at line ${a.line(l)}`}">
            <span class="mono">${e.grid.some(u=>u>1)?e.ctaName(i.cta)+" ":""}w${i.warp}</span>
            ${U(a.lanes)<e.warpSize?f`<span class="soft">${U(a.lanes)} of ${e.warpSize}</span>`:b}${e.trap?.cta===i.cta&&e.trap.warp===i.warp?f`<span class="bad">✕<span class="hidden"> failed</span></span>`:b}
            ${p?f`<span class="soft">end</span>`:f`<span class="letter">${e.blocks[c]?.letter??""}</span><span class="meter" aria-hidden="true"><i style="width:${h/e.warpSize*100}%"></i></span>`}
          </button>`})}
        ${e.warps.length>s.length?f`<label class="field">another <select @change=${i=>this.chooseWarp(Number(i.target.value))}>${e.warps.slice(0,4096).map((i,r)=>f`<option value=${r} ?selected=${r===this.warpIndex}>CTA ${e.ctaName(i.cta)} warp ${i.warp}</option>`)}</select></label>`:b}
      </div>
    </details>`}chooseWarp(e){let t=this.model.eventOf(this.step);this.warpIndex=e,this.step=this.model.stepAtEvent(t),this.keepInView(),this.resetPrediction()}results(){let e=this.runs[this.main]?.response?.outputs??[];return e.length===0?f`<p class="soft">${this.request?"The run has no results.":"A recording has no results of buffers; see the registers at the stores."}</p>`:e.map(t=>f`<h3 class="mono">${t.name??`argument ${t.argument}`} <span class="soft">${t.type}[${t.length}], at the end</span></h3>
        <div class="scroll" tabindex="0" role="region" aria-label="Values of ${t.name??`argument ${t.argument}`}"><ol class="values">${t.values.map((s,i)=>f`<li><span class="soft">${i}</span>${s}</li>`)}</ol></div>`)}panes(){let e=this.model,t=Math.min(this.step,e.steps),s=ks.filter(([a])=>a!=="results"||(this.runs[this.main]?.response?.outputs?.length??0)>0),i=s.some(([a])=>a===this.pane)?this.pane:"registers",r=this.asking;return f`<section class="panes" aria-label="State">
<div class="tabs" role="tablist" aria-label="Views" @keydown=${a=>this.tabKey(a,s.map(([l])=>l),i)}>
${s.map(([a,l])=>f`<button role="tab" id="tab-${a}" aria-selected=${i===a} aria-controls="pane" tabindex=${i===a?0:-1} @click=${()=>this.pane=a}>${l}</button>`)}
      </div>
      <div id="pane" role="tabpanel" aria-labelledby="tab-${i}">
        ${i==="registers"?f`<gemu-registers .model=${e} .step=${t} .register=${this.register} .lane=${this.lane}></gemu-registers>`:b}
        ${i==="memory"?f`<gemu-memory .model=${e} .step=${t}></gemu-memory>`:b}
        ${i==="flow"?f`<gemu-flow .model=${e} .step=${t} .hideNext=${r}></gemu-flow>`:b}
        ${i==="results"?this.results():b}
      </div>
    </section>`}tabKey(e,t,s){let i=e.key==="ArrowRight"?1:e.key==="ArrowLeft"?-1:0;!i||e.shiftKey||(e.preventDefault(),e.stopPropagation(),this.pane=t[(t.indexOf(s)+i+t.length)%t.length],this.updateComplete.then(()=>this.renderRoot.querySelector(`#tab-${this.pane}`)?.focus()))}form(){let e=this.request,t=this.runs.find(a=>a.response?.kernels?.length)?.response?.kernels??[],s=this.launchedKernel,i=Math.max(s?.parameters.length??0,e.arguments.length,1),r=this.runs.find(a=>a.response?.argument!==void 0)?.response;return f`<section class="edit" aria-label="Program and launch">
<div class="bar"><h2>${e.name}</h2><span class="soft">Ctrl+Enter runs; the place stays</span></div>
<div class="editor-host" style="height:min(52vh,520px)"><p class="soft">The editor is loading…</p></div>
<form class="launch" @submit=${a=>(a.preventDefault(),this.runEdited())}>
${t.length>1?f`<label>kernel <select name="kernel">${t.map(a=>f`<option ?selected=${a.name===(e.kernel||s?.name)}>${a.name}</option>`)}</select></label>`:f`<input type="hidden" name="kernel" .value=${e.kernel} />`}
        <label>grid <input name="grid" size="7" .value=${e.grid.map(a=>a||1).join(",")} /></label>
        <label>block <input name="block" size="7" .value=${e.block.some(a=>a)?e.block.join(","):"32"} /></label>
        <label>lanes of a warp <select name="warp">${[4,8,16,32,64].map(a=>f`<option ?selected=${a===(e.warp||32)}>${a}</option>`)}</select></label>
        ${Array.from({length:i},(a,l)=>{let c=s?.parameters[l],h=r?.argument===l;return f`<label class="argument">${c?f`<span class="mono">${c.name}</span> <span class="soft">${c.type}</span>`:`argument ${l}`} <input name="argument" list="arguments" .value=${e.arguments[l]??""} aria-invalid=${h?"true":"false"} spellcheck="false" autocomplete="off" /></label>`})}
        <datalist id="arguments">${["u32[32]","u32[32]=iota","f32[64]=1","f32[1024]=iota","s32[32]=-1","32","2.0"].map(a=>f`<option value=${a}></option>`)}</datalist>
        <button class="primary" type="submit">Run</button>
        ${this.runs.some(a=>a.busy)?f`<button type="button" @click=${this.stopRuns}>Stop</button>`:b}
      </form>
    </section>`}helpText(){return this.help?f`<section class="card help" aria-label="Help"><div>
<h2>What the pictures show</h2>
<p>A <b>warp</b> is 32 threads, its <b>lanes</b>, that execute an instruction together. In a strip each row is a lane and each column a step. A <b>filled</b> cell executes; a <b>pale</b> cell waits; a <b>dotted</b> line is a lane that has ended. Colour and letter name the basic block of the program: a block is lines that are executed from the first to the last.</p>
<p>Each strip is the same kernel under another <b>policy</b>: the rule that decides which lanes run next. The playhead is at the same step in all of them. Press the name of a policy to see its state.</p></div><div>
<h2>Keys</h2>
<dl><dt>→ ←</dt><dd>step, step back</dd><dt>Shift → ←</dt><dd>next, previous split or reconvergence</dd><dt>Home End</dt><dd>start, end</dd><dt>Space</dt><dd>play, pause</dd><dt>+ − 0</dt><dd>in a strip: zoom in, out, all steps</dd></dl>
<p>Press a line number to run to the line. Press a lane to follow it. Press a register to see its values in the cells. Drop a recording of <code>gemu record FILE --with all</code> anywhere to open it.</p></div>
</section>`:b}render(){let e=this.model,t=e?Math.min(this.step,e.steps):0;return f`<div
class="page ${this.dropping?"dropping":""}"
@dragover=${s=>(s.preventDefault(),this.dropping=!0)}
@dragleave=${s=>s.relatedTarget===null&&(this.dropping=!1)}
@drop=${s=>(s.preventDefault(),this.dropping=!1,void this.openFiles(s.dataTransfer?.files??[]))}
>
${this.header()}
<main>
${this.helpText()} ${this.intro()} ${e?f`<div class="sticky">${this.transport()} ${this.say()}</div>`:b} ${this.card()}
          ${this.runs.length?this.timeline():b}
          ${!e&&!this.message&&!this.runs.length?this.empty():b}
          ${this.editing&&this.request?this.form():b}
          ${e?f`<div class="columns">
<section class="program" aria-label="Program"><div class="bar"><h2>Program</h2><span class="soft">${this.runs[this.main].label}: lanes at each line</span></div>
<gemu-program .model=${e} .step=${t} .register=${this.register} .hideNext=${this.asking}></gemu-program></section>
<section class="state" aria-label="Warp"><div class="bar"><h2>${Ri(e)}</h2><span class="soft">${this.lane>=0?f`lane ${this.lane} <button class="small" @click=${()=>this.lane=-1}>let go</button>`:""}</span></div>
                    ${this.question()} ${this.warps()}
                    <gemu-warp .model=${e} .step=${t} .register=${this.register} .lane=${this.lane} .asking=${this.asking} .picked=${this.picked}></gemu-warp>
                    ${this.asking?b:f`<div class="bar stack-head"><h2>${/^(pc2|frontier)/.test(e.launch.policy)?"Warp splits":"Reconvergence stack"}</h2></div><gemu-stack .model=${e} .step=${t}></gemu-stack>`}</section>
                </div>
                ${this.panes()}`:b}
        </main>
      </div>
      <dialog class="link" aria-label="Link">
        <form method="dialog"><h2>A link to this program, at this place</h2><p class="soft">The link holds the program and the launch; no server stores them. It is copied.</p><input readonly aria-label="Link" .value=${this.link} /><button class="primary">Close</button></form>
      </dialog>`}empty(){return f`<section class="card empty"><h2>${this.engine?"Loading…":"Open a recording"}</h2><p>${this.engine?"The engine starts.":f`Drop a file made by <code>gemu record FILE --with all -o run.gemu</code> here, or press Open. Several files, one for each policy, are shown one below the other.`}</p></section>`}};function Ci(o){let n=e=>e.slice(0,e[2]>1?3:e[1]>1?2:1).join("×");return`grid ${n(o.grid)}, block ${n(o.block)}`}function Ri(o){let n=Q(o.lanes).length;return`${o.launch.grid.some(e=>e>1)?`CTA ${o.launch.ctaName(o.info.cta)}, w`:"W"}arp ${o.info.warp}, ${Se(n,"lane")}`}var Ii={start:"M4 3v10M13 3L6 8l7 5z",previous:"M8 8l6-5v10zM2 8l6-5v10z",back:"M11 3L4 8l7 5z",play:"M4 2.5v11L13 8z",pause:"M4 3h3v10H4zM9 3h3v10H9z",forward:"M5 3l7 5-7 5z",next:"M8 8L2 3v10zM14 8L8 3v10z",end:"M12 3v10M3 3l7 5-7 5z"},Ie=o=>f`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d=${Ii[o]} fill="currentColor" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round"/></svg>`;customElements.define("gemu-player",fn);var As=new WeakMap;function mn(o){let n=As.get(o);return n||As.set(o,n=Ui(o)),n}function Ui(o){let n=o.sources.find(t=>t.kind==="ptx"),e=[{kind:"ptx",name:n?.name??o.file,lines:n?Ms(o,n.text,t=>t.line,!0):Pi(o)}];for(let t of o.sources)t.kind!=="compiled"||!o.instructions.some(s=>s.sourceFile===t.name)||e.push({kind:"compiled",name:t.name,lines:Ms(o,t.text,s=>s.sourceFile===t.name?s.sourceLine:0,!1)});return e}function Pi(o){let n=new Map;for(let e of o.instructions){let t=n.get(e.line);t?(t.instructions.push(e),t.text+=` ${e.text};`):n.set(e.line,{number:e.line,text:`	${e.text};`,instructions:[e]})}return[...n.values()].sort((e,t)=>e.number-t.number)}function Ms(o,n,e,t){let s=n.split(/\r?\n/),i=new Map,r=[],a=new Map;for(let h of o.instructions){let p=e(h);p<1||p>s.length||(i.set(p,[...i.get(p)??[],h]),a.set(h.function,[...a.get(h.function)??[],h]))}for(let h of a.values()){let p=Math.min(...h.map(e)),u=Math.max(...h.map(e)),d=t?/\.(entry|func)\b/:/__(global|device)__|^\S.*\)\s*\{?\s*$/;for(let g=p;g>Math.max(0,p-200);g--)if(d.test(s[g-1])){p=g;break}for(let g=u;g<=Math.min(s.length,u+20);g++)if(/^\}/.test(s[g-1])){u=g;break}r.push([p,u])}r.sort((h,p)=>h[0]-p[0]);let l=[],c=0;for(let[h,p]of r){for(let u=Math.max(h,c+1);u<=p;u++)(!t||!/^\s*\.loc\s/.test(s[u-1]))&&l.push({number:u,text:s[u-1],instructions:i.get(u)??[]});c=Math.max(c,p)}return l}var Wi=/(\/\/.*|\/\*.*?\*\/)|(@!?%\w+)|(%[\w.]+)|(^\s*[\w$]+:)|((?<![\w.])\.[a-z]\w*)|(\b0[xXfFdD][\da-fA-F]+\b|\b\d[\w.]*\b)|((?:^|(?<=[\s;}:]))[a-z][a-z0-9_]*(?:\.[a-z0-9_:]+)*(?=[\s;]))/g;function Es(o){let n=[],e=0;for(let t of o.matchAll(Wi)){t.index>e&&n.push({kind:"",text:o.slice(e,t.index)});let s=t[1]?"comment":t[2]?"guard":t[3]?"register":t[4]?"label":t[5]?"directive":t[6]?"number":"op";n.push({kind:s,text:t[0]}),e=t.index+t[0].length}return e<o.length&&n.push({kind:"",text:o.slice(e)}),n}var gn=22,vn=class extends te{constructor(){super(...arguments);this.language=0;this.hover=0;this.register="";this.hideNext=!1}static{this.properties={language:{state:!0},hover:{state:!0},register:{},hideNext:{attribute:!1}}}static{this.styles=[ne,K`
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
.op {
color: var(--ink);
font-weight: 600;
}
.register {
color: var(--ink);
}
.register.picked {
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
.number-token {
color: var(--ink);
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
`]}updated(e){if(!e.has("step")&&!e.has("model")&&!e.has("language"))return;let t=this.renderRoot.querySelector(".scroll"),s=this.renderRoot.querySelector(".row.now .number");if(!t||!s)return;let[i,r]=[s.offsetTop,t.clientHeight];i<t.scrollTop+30?t.scrollTop=Math.max(0,i-60):i+60>t.scrollTop+r&&(t.scrollTop=i+90-r)}arcs(e){let t=this.model.launch,s=[];for(let r of t.blocks){if(r.instructions===0)continue;let a=r.first+r.instructions-1;for(let l of r.next){let c=t.blocks[l];if(!c||c.first===a+1)continue;let[h,p]=[e.get(a),e.get(c.first)];h!==void 0&&p!==void 0&&s.push({from:h,to:p,column:0,instruction:a,target:c.first})}}s.sort((r,a)=>Math.abs(r.to-r.from)-Math.abs(a.to-a.from));let i=[];for(let r of s){let[a,l]=[Math.min(r.from,r.to),Math.max(r.from,r.to)];for(;i.some(c=>c.column===r.column&&Math.min(c.from,c.to)<=l&&Math.max(c.from,c.to)>=a);)r.column++;i.push(r)}return s.filter(r=>r.column<8)}render(){let e=this.model;if(this.failure)return f`<p>${this.failure}</p>`;if(!e)return b;let t=mn(e.launch),s=t[Math.min(this.language,t.length-1)],i=s.kind==="ptx",r=e.state(this.step),a=r.end?-1:r.instruction,l=new Map;s.lines.forEach((d,g)=>d.instructions.forEach(A=>l.set(A.index,g)));let c=i?this.arcs(l):[],h=c.reduce((d,g)=>Math.max(d,g.column+1),0),p=h?h*8+14:6,u=this.hideNext||r.end?[]:e.outcome(this.step).groups.map(d=>d.instruction);return f`${t.length>1?f`<div class="tabs" role="group" aria-label="Language">${t.map((d,g)=>f`<button aria-pressed=${g===this.language} @click=${()=>this.language=g}>${d.kind==="ptx"?"PTX":d.name.split("/").pop()}</button>`)}</div>`:b}
      <div class="scroll" tabindex="0" role="region" aria-label="Lines of the program">
        <div class="rows" role="table" aria-label="Lines of ${s.name}, with the lanes at each" style="--arcs:${p}px">
          <div class="hidden" role="rowgroup"><div role="row"><span role="columnheader">block</span><span role="columnheader">line</span><span role="columnheader">lanes</span><span role="columnheader">code</span></div></div>
          <div role="rowgroup" style="display:contents">${s.lines.map(d=>this.row(d,r,a,i))}</div>
          <svg class="flow" width=${p} height=${s.lines.length*gn} aria-hidden="true">
            ${c.map(d=>{let g=d.instruction===a&&u.includes(d.target),A=p-8,[m,x,k]=[(d.from+.5)*gn,(d.to+.5)*gn,A-6-d.column*8],w=Math.min(5,Math.abs(x-m)/2),$=x>m?1:-1;return ee`<path class=${g?"taken":""} d="M${A} ${m}H${k+w}Q${k} ${m} ${k} ${m+$*w}V${x-$*w}Q${k} ${x} ${k+w} ${x}H${A-3}"/><path class="tip ${g?"taken":""}" d="M${A+1} ${x}l-6 -3.5v7z"/>`})}
          </svg>
        </div>
      </div>`}row(e,t,s,i){let r=this.model,a=e.instructions[0],l=e.instructions.some(u=>u.index===s),c=a?a.block:-1,p=i&&a&&r.launch.blocks[c]?.first===a.index?r.launch.blocks[c].letter:"";return f`<div class="row ${l?"now":""}" role="row" @pointerenter=${()=>this.point(e)} @pointerleave=${()=>this.point(void 0)}>
<span class="arcs" aria-hidden="true"></span>
<span class="block" role="cell">${p?f`<span class="letter" style=${le(c)}>${p}</span>`:b}</span>
      <span class="number" role="cell">${a?f`<button title="Run to line ${e.number}" aria-label="Run to line ${e.number}" aria-current=${l?"step":b} @click=${()=>this.send("gemu-run-to",{line:e.number,source:!i,file:i?"":this.file})}>${e.number}</button>`:f`<span>${e.number}</span>`}</span>
      <span class="lanes" role="cell">${a?this.lanes(e.instructions,t):b}</span>
      <span class="code" role="cell">${i?this.code(e.text):e.text.replaceAll("	","    ")||" "}</span>
    </div>`}get file(){return mn(this.model.launch)[this.language]?.name??""}point(e){let t=this.model,s=this.language===0;if(this.send("gemu-lines",{lines:e?new Set(e.instructions.map(h=>h.line)):new Set}),!e||e.instructions.length===0)return this.send("gemu-hover",{text:""});let i=t.state(this.step),r=i.groups.filter(h=>e.instructions.some(p=>p.index===h.instruction)),a=0;for(let h=0;h<t.steps;h++)e.instructions.some(p=>p.index===t.instruction[h])&&a++;let l=this.hideNext?"":` The warp executes it ${a===1?"once":a===0?"never":`${a.toLocaleString("en")} times`}.`,c=r.map(h=>`${H(h.lanes,t.lanes)} ${Ge(t,h,i.groups)}`).join("; ");this.send("gemu-hover",{text:`Line ${e.number}: ${s?e.instructions.map(h=>h.text).join("; "):e.text.trim()}.${l}${c?` Now ${c}.`:""}`})}lanes(e,t){let s=this.model,[i,r]=[j,j];for(let p of t.groups)e.some(u=>u.index===p.instruction)&&(p.reason==="runs"?i=G(i,p.lanes):r=G(r,p.lanes));let a=G(i,r);if(z(a))return b;let l=s.launch.warpSize,c=[z(i)?"":`${H(i,s.lanes)} ${U(i)===1?"runs":"run"}`,z(r)?"":`${H(r,s.lanes)} ${U(r)===1?"waits":"wait"}`].filter(Boolean).join(", "),h=96/l;return f`<svg viewBox="0 0 96 12" preserveAspectRatio="none" style=${le(e[0].block)} role="img" aria-label=${c}>
<rect class="rail" x="0" y="5" width="96" height="2"></rect>
${Array.from({length:l},(p,u)=>I(a,u)?ee`<rect class=${I(i,u)?"on":"hollow"} x=${u*h+.4} y="1" width=${h-.8} height="10"/>`:b)}
    </svg>`}code(e){return e?Es(e.replaceAll("	","    ")).map(t=>{if(t.kind==="")return t.text;let s=t.text.replace(/^@!?/,""),i=(t.kind==="register"||t.kind==="guard")&&s===this.register;return t.kind==="register"||t.kind==="guard"?f`<span class="${t.kind} ${i?"picked":""}" @click=${()=>this.send("gemu-register",{name:s})}>${t.text}</span>`:f`<span class=${t.kind==="number"?"number-token":t.kind}>${t.text}</span>`}):" "}};customElements.define("gemu-program",vn);function xn(o,n){return o.length<=n?o:"…"+o.slice(-(n-1))}var Hi={runs:"runs",masked:"masked",ready:"waits",joins:"waits",barrier:"waits",collective:"waits",waits:"waits",stuck:"waits",ended:"ended",absent:"absent"},bn=class extends te{constructor(){super(...arguments);this.register="";this.lane=-1;this.asking=!1;this.picked={lo:0,hi:0};this.focusLane=0}static{this.properties={register:{},lane:{attribute:!1},asking:{type:Boolean},picked:{attribute:!1},focusLane:{state:!0}}}static{this.styles=[ne,K`
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
font-size: 12.5px;
font-weight: 700;
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
`]}pick(e){this.asking?this.send("gemu-pick",{lane:e}):this.send("gemu-lane",{lane:this.lane===e?-1:e})}key(e){let t=this.model.launch.warpSize,s=getComputedStyle(this.renderRoot.querySelector(".cells")).gridTemplateColumns.split(" ").length,i={ArrowRight:1,ArrowLeft:-1,ArrowDown:s,ArrowUp:-s};if(!(e.key in i)||e.shiftKey||e.ctrlKey||e.altKey)return;let r=this.focusLane+i[e.key];e.preventDefault(),e.stopPropagation(),!(r<0||r>=t)&&(this.focusLane=r,this.updateComplete.then(()=>this.renderRoot.querySelectorAll(".cell")[r].focus()))}shown(e){return e.find(t=>t.register.name===this.register)??[...e].filter(t=>t.last>=0).sort((t,s)=>s.last-t.last)[0]}cell(e,t,s){let i=this.model,r=e.groups[e.group[t]],a=r?.reason??"absent",l=r&&r.instruction>=0?i.launch.instructions[r.instruction].block:-1,c=l>=0?i.launch.blocks[l].letter:"",h=s?.values[t],p=a==="ended"?"end":h===void 0?"·":De(h,s.register.type,s.register.bits),u=r?Ge(i,r,e.groups):"has no thread",d=this.asking?`lane ${t}`:`lane ${t}: ${u}${r&&r.instruction>=0?`, ${de(i.launch,r.instruction)}`:""}${s&&h!==void 0?`, ${s.register.name} is ${p}`:""}`,g=this.asking?I(this.picked,t):this.lane===t;return f`<button
class="cell ${Hi[a]} ${a==="joins"?"joins":""}"
style=${le(l)}
aria-label=${d}
aria-pressed=${g}
tabindex=${t===this.focusLane?0:-1}
?disabled=${a==="absent"}
@click=${()=>(this.focusLane=t,this.pick(t))}
@pointerenter=${()=>this.send("gemu-hover",{text:this.asking?"":d[0].toUpperCase()+d.slice(1)})}
@pointerleave=${()=>this.send("gemu-hover",{text:""})}
><span class="n"><span>${t}</span><span>${this.asking?g?"✓":"":c}</span></span><b>${xn(p,5)}</b></button>`}mask(e,t){let s=this.model.launch.warpSize;return Ss(e.lanes,s,t)}groups(e){let t=this.model;return f`<div class="scroll" tabindex="0" role="region" aria-label="Groups of lanes">
<table>
<caption class="hidden">Groups of lanes, and what each waits for</caption>
<thead><tr><th scope="col">lanes</th><th scope="col"><span class="hidden">picture</span></th><th scope="col">at</th><th scope="col">now</th></tr></thead>
<tbody>${e.groups.map(s=>this.group(s,e.groups,t.launch.instructions[s.instruction]?.block??-1))}</tbody>
</table>
</div>`}group(e,t,s){let i=this.model,r=i.launch.blocks[s]?.letter,a=Ge(i,e,t),l=U(e.lanes)===1?a.replace(/^are\b/,"is").replace(/^have\b/,"has").replace(/^(run|wait)\b/,"$1s"):a;return f`<tr style=${le(s)}>
<td>${H(e.lanes,i.lanes)}</td>
<td>${this.mask(e,e.reason==="runs")}</td>
<td class="at">${e.reason==="ended"?"–":f`${r?f`<span class="letter">${r}</span> `:b}${de(i.launch,e.instruction)}`}</td>
      <td>${l}</td>
    </tr>`}render(){let e=this.model;if(this.failure)return f`<p>${this.failure}</p>`;if(!e)return b;let t=e.launch.warpSize,s=e.state(this.step),i=this.shown(e.registers(this.step)),r=new Set(s.groups.map(l=>l.reason)),a=t>=16?16:t;return f`<div class="cells ${this.asking?"asking":""}" style="--columns:${a}" role="group" aria-label=${this.asking?"Lanes that run next":`Lanes of the warp${i?`, with the values of ${i.register.name}`:""}`} @keydown=${this.key}>
        ${Array.from({length:t},(l,c)=>this.cell(s,c,i))}
      </div>
      ${this.asking?b:f`<ul class="key">
${r.has("runs")?f`<li><i class="runs"></i>runs</li>`:b}
              ${r.has("masked")?f`<li><i class="masked"></i>guard does not hold</li>`:b}
              ${r.has("joins")?f`<li><i class="joins"></i>waits at the reconvergence point</li>`:b}
              ${["ready","barrier","collective","waits","stuck"].some(l=>r.has(l))?f`<li><i></i>waits</li>`:b}
              ${r.has("ended")?f`<li><i class="ended"></i>has ended</li>`:b}
              <li>letter: basic block</li>
              ${i?f`<li>number: <span class="mono">${i.register.name}</span></li>`:b}
            </ul>
            ${this.groups(s)}`}`}};function Ss(o,n,e){return f`<svg class="mask" viewBox="0 0 ${n*4} 12" preserveAspectRatio="none" aria-hidden="true">${Array.from({length:n},(t,s)=>Bi(s,I(o,s)?e?"on":"hollow":"off"))}</svg>`}var Bi=(o,n)=>ee`<rect x=${o*4+.5} y="0.5" width="3" height="11" class=${n}/>`,wn=class extends te{static{this.styles=[ne,K`
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
`]}render(){let n=this.model;if(!n)return b;if(!n.launch.has.stack)return f`<p>The recording has no stack. Record with --with stack.</p>`;let{stack:e}=n.state(this.step);if(this.step>=n.steps&&z(W(n.lanes,n.ended(n.steps))))return f`<p>All lanes have ended.</p>`;let t=e.filter(r=>r.kind==="point").length,s=this.step>=n.steps,i={running:s?Ve(n.launch)?"blocked":"stopped":"running",ready:"ready",blocked:"blocked",point:"point"};return f`<p>${e.length<=1?"The warp is one group: nothing waits on the stack.":`${e.length-t} warp ${e.length-t===1?"split":"splits"}${t?`, and ${t===1?"a reconvergence point":`${t} reconvergence points`} at which lanes wait for each other`:""}. The innermost is first.`}</p>
      <ol>
        ${e.map(r=>{let a=n.launch.instructions[r.instruction],l=a?n.launch.blocks[a.block]?.letter:"";return f`<li class=${s&&r.kind==="running"?"blocked":r.kind} style="${le(a?.block??-1)};margin-left:${Math.min(r.depth,12)*10}px">
<b>${i[r.kind]}</b>${Ss(r.kind==="point"?r.arrived:r.lanes,n.launch.warpSize,r.kind==="running"&&!s)}
<span>${l?f`<span class="letter">${l}</span> `:b}${de(n.launch,r.instruction)}:
            ${r.kind==="point"?z(r.arrived)?`no lane has arrived of ${H(r.lanes,n.lanes)}`:`${H(r.arrived,n.lanes)} arrived of ${H(r.lanes,n.lanes)}`:H(r.lanes,n.lanes)}</span>
          </li>`})}
      </ol>`}};customElements.define("gemu-warp",bn);customElements.define("gemu-stack",wn);var yn=class extends te{constructor(){super(...arguments);this.register="";this.lane=-1;this.all=!1}static{this.properties={register:{},lane:{attribute:!1},all:{state:!0}}}static{this.styles=[ne,K`
.bar {
display: flex;
flex-wrap: wrap;
gap: 4px 16px;
align-items: center;
margin-bottom: 6px;
font-size: 13px;
color: var(--soft);
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
.few {
background: var(--idle);
color: var(--soft);
}
p {
margin: 6px 0 0;
font-size: 13px;
color: var(--soft);
}
`]}chip(e){if(e.class==="none")return f`<span class="chip" title="No active lane has a value">–</span>`;let t=e.class;return e.few&&e.lanes>0?f`<span class="chip few" title="Any ${e.lanes===1?"single value is uniform":"two values are uniform or affine"}: the class of ${e.lanes} ${e.lanes===1?"lane":"lanes"} says nothing">${e.lanes} ${e.lanes===1?"lane":"lanes"}</span>`:f`<span class="chip ${t[0]}" title=${t}>${t[0]}<span class="hidden">: ${t}</span></span>`}line(e,t){let s=this.model,i=this.step<s.steps?s.active(this.step):s.lanes,{name:r,type:a,bits:l}=e.register;return f`<tr class=${e.written?"written":""}>
<th class="name" scope="row"><button aria-pressed=${this.register===r} title="${r} ${a}: show its values in the cells of the warp" @click=${()=>this.send("gemu-register",{name:r})}>${r}</button></th>
<td class="class">${this.chip(e.structure)} <span class="mark" title=${e.written?"written by this step":e.read?"read by this step":""}>${e.written?"←":e.read?"→":""}</span></td>
<td class="formula">${e.structure.few?"":cs(e.structure,a,l)}</td>
${t.map(c=>{let h=e.values[c],p=h===void 0?"·":De(h,a,l),u=!I(i,c);return f`<td class="${u?"off":""} ${c===this.lane?"lane":""}" title="lane ${c}: ${p}${u?", not active":""}">${xn(p,l===64?4:6)}</td>`})}
    </tr>`}render(){let e=this.model;if(this.failure)return f`<p>${this.failure}</p>`;if(!e)return b;if(!e.launch.has.results)return f`<p>The recording has no values. Record with --with results.</p>`;let t=Array.from({length:e.launch.warpSize},(r,a)=>a).filter(r=>I(e.lanes,r)),s=e.registers(this.step),i=s.length;if(!this.all&&i>24){let r=new Set([...s].sort((a,l)=>l.last-a.last).slice(0,20));s=s.filter(a=>r.has(a)||a.read||a.register.name===this.register)}return f`<div class="bar">
<span><span class="chip u">u</span> uniform: one value</span><span><span class="chip a">a</span> affine: base + stride · lane</span><span><span class="chip g">g</span> generic: anything</span>
<span>over the active lanes</span><span><span class="mark">→</span>read</span><span><span class="mark">←</span>written by this step</span>
${i>24?f`<button aria-pressed=${this.all} @click=${()=>this.all=!this.all}>all ${i} registers</button>`:b}
      </div>
      ${s.length===0?f`<p>No register has a value yet.</p>`:f`<div class="scroll" tabindex="0" role="region" aria-label="Registers by lane">
<table>
<caption class="hidden">Values of registers in each lane</caption>
<thead><tr><th class="name" scope="col">register</th><th class="left" scope="col">class</th><th class="left" scope="col">formula</th>${t.map(r=>f`<th scope="col" class=${r===this.lane?"lane":""}><span class="hidden">lane </span>${r}</th>`)}</tr></thead>
              <tbody>${s.map(r=>this.line(r,t))}</tbody>
            </table>
          </div>`}`}};customElements.define("gemu-registers",yn);var Ls=new WeakMap;function ht(o){let n=Ls.get(o);if(n)return n;n=[];let e;for(let t=0;t<o.steps;t++){let s=o.instructionAt(t).block,i=t>0&&o.instruction[t]<=o.instruction[t-1];e&&!i&&e.block===s&&e.active.lo===o.activeLo[t]&&e.active.hi===o.activeHi[t]?e.to=t+1:n.push(e={from:t,to:t+1,block:s,active:F(o.activeLo[t],o.activeHi[t])})}return Ls.set(o,n),n}function ut(o,n){let[e,t]=[0,o.length];for(;e<t;){let s=e+t>>>1;o[s].to<=n?e=s+1:t=s}return Math.min(e,o.length-1)}function zs(o,n){let[e,t]=[o.line(n.from),o.line(n.to-1)],s=o.ended(n.from),i=W(W(o.lanes,s),n.active),r=[];return z(i)||r.push(`${H(i,o.lanes)} ${U(i)===1?"waits":"wait"}`),z(s)||r.push(`${H(s,o.lanes)} ${U(s)===1?"has":"have"} ended`),{steps:n.to-n.from===1?`${n.from+1}`:`${n.from+1}–${n.to}`,letter:o.launch.blocks[n.block]?.letter??"",lines:e===t?`${e}`:`${e}–${t}`,active:H(n.active,o.lanes),others:r.join("; ")}}var Ts=o=>o.replace(/[&<>"']/g,n=>`&#${n.charCodeAt(0)};`),_i=5e3;function Cs(o,n,e,t,s){let i=o.launch.warpSize,r=Math.max(1,t-e),a=Math.max(1,Math.min(24,960/r)),l=i<=8?14:i<=16?9:6,[c,h]=[34,44],p=Math.ceil(c+r*a+12),u=h+i*l+26,d=[],g=ht(o).filter(m=>m.to>e&&m.from<t);for(let m of g.slice(0,_i)){let[x,k]=[Math.max(m.from,e),Math.min(m.to,t)],w=c+(x-e)*a,$=s.blocks[Math.max(m.block,0)%s.blocks.length],E=o.ended(m.from);for(let y=0;y<i;){let M=!I(o.lanes,y)||I(E,y)?0:I(m.active,y)?2:1,S=y+1;for(;S<i&&(!I(o.lanes,S)||I(E,S)?0:I(m.active,S)?2:1)===M;)S++;M&&d.push(`<rect x="${w.toFixed(2)}" y="${h+y*l}" width="${((k-x)*a-(a>4?1:0)).toFixed(2)}" height="${(S-y)*l-.6}" fill="${M===2?$:s.idle}"/>`),y=S}let v=o.launch.blocks[m.block]?.letter;v&&(k-x)*a>=9&&d.push(`<text x="${(w+(k-x)*a/2).toFixed(1)}" y="${h-6}" text-anchor="middle" font-weight="700" fill="${$}">${v}</text>`)}for(let m=0;m<i;m+=i<=8?1:8)d.push(`<text x="${c-6}" y="${h+m*l+l/2+3.5}" text-anchor="end" fill="${s.soft}">${m}</text>`);if(a>=15)for(let m=e;m<Math.min(t,o.steps);m++)d.push(`<text x="${(c+(m-e+.5)*a).toFixed(1)}" y="${h+i*l+12}" text-anchor="middle" fill="${s.soft}">${o.line(m)}</text>`);let A=`${n}: ${o.steps} instructions of warp ${o.info.warp} of CTA ${o.launch.ctaName(o.info.cta)}. ${lt(o)}`;return`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${p} ${u}" width="${p}" height="${u}" role="img" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="10"><title>${Ts(A)}</title><rect width="100%" height="100%" fill="${s.card}"/><text x="${c}" y="18" font-size="13" font-weight="700" fill="${s.ink}" font-family="system-ui, sans-serif">${Ts(n)}</text>${d.join("")}</svg>
`}var[se,Z,Rs]=[30,18,15],Ni=56,Ue=40,$n=class extends te{constructor(){super(...arguments);this.label="";this.laneHeight=0;this.revealed=1/0;this.otherLabel="";this.lane=-1;this.main=!1;this.lines=new Set;this.width=0;this.open=!1;this.tableFrom=-1;this.drawn="";this.observer=new ResizeObserver(()=>this.width=this.wrap?.clientWidth??0);this.repaint=()=>{this.drawn="",this.requestUpdate()};this.down=e=>{if(e.button!==0)return;let{x:t,step:s}=this.pointed(e);this.press={x:t,step:s,touch:e.pointerType!=="mouse"},this.wrap.setPointerCapture(e.pointerId),this.press.touch&&this.to(s)};this.move=e=>{let{x:t,step:s,lane:i}=this.pointed(e),r=this.model;this.press?.touch?this.to(s):this.press&&Math.abs(t-this.press.x)>6&&(this.dragged={from:Math.min(this.press.step,s),to:Math.max(this.press.step,s)+1});let a=s>=0&&s<r.steps&&s<=this.revealed&&i>=0&&i<r.launch.warpSize;this.send("gemu-hover",{text:a?`${this.label?this.label+": ":""}${xs(r,s,i)}`:""})};this.up=e=>{let{step:t}=this.pointed(e),{press:s,dragged:i}=this;this.press=this.dragged=void 0,s&&(i?this.zoom({from:ie(i.from,0,this.model.steps),to:ie(i.to,1,this.model.steps+1)}):this.to(t))};this.key=e=>{let t=this.model.steps,s={ArrowRight:()=>this.to(this.step+1),ArrowLeft:()=>this.to(this.step-1),ArrowUp:()=>this.to(this.step-1),ArrowDown:()=>this.to(this.step+1),PageUp:()=>this.to(this.step-10),PageDown:()=>this.to(this.step+10),Home:()=>this.to(0),End:()=>this.to(t),"+":()=>this.scale(.5),"=":()=>this.scale(.5),"-":()=>this.scale(2),0:()=>this.zoom(void 0)};e.ctrlKey||e.metaKey||e.altKey||e.shiftKey&&e.key.startsWith("Arrow")||!s[e.key]||(s[e.key](),e.preventDefault(),e.stopPropagation())}}static{this.properties={label:{},laneHeight:{type:Number,attribute:"lane-height"},view:{attribute:!1},revealed:{attribute:!1},other:{attribute:!1},otherLabel:{attribute:!1},lane:{attribute:!1},main:{type:Boolean},lines:{attribute:!1},width:{state:!0},open:{state:!0},tableFrom:{state:!0},dragged:{state:!0}}}static{this.styles=[ne,K`
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
top: 0;
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
`]}get wrap(){return this.renderRoot.querySelector(".wrap")}visible(){let e=(this.model?.steps??0)+1,t=this.view??{from:0,to:e},s=Math.max(this.width-se-4,40);return{...t,w:Math.min(Ni,s/Math.max(t.to-t.from,1))}}get height(){let e=this.model?.launch.warpSize??32;return this.laneHeight||(e<=8?14:e<=16?9:e<=32?5:3)}firstUpdated(){matchMedia("(prefers-color-scheme: dark)").addEventListener("change",this.repaint),matchMedia("(forced-colors: active)").addEventListener("change",this.repaint)}disconnectedCallback(){super.disconnectedCallback(),this.observer.disconnect(),matchMedia("(prefers-color-scheme: dark)").removeEventListener("change",this.repaint),matchMedia("(forced-colors: active)").removeEventListener("change",this.repaint)}updated(){let e=this.wrap;e&&(this.observer.observe(e),!this.width&&e.clientWidth&&(this.width=e.clientWidth),this.paint())}palette(){let e=document.createElement("i");this.renderRoot.append(e);let t=r=>(e.style.color=r,getComputedStyle(e).color),i=matchMedia("(forced-colors: active)").matches?{blocks:[t("CanvasText")],on:t("Canvas"),idle:t("GrayText"),edge:t("GrayText"),ink:t("CanvasText"),soft:t("CanvasText"),card:t("Canvas")}:{blocks:Array.from({length:rn},(r,a)=>t(`var(--b${a})`)),on:t("var(--on)"),idle:t("var(--idle)"),edge:t("var(--edge)"),ink:t("var(--ink)"),soft:t("var(--soft)"),card:t("var(--card)")};return e.remove(),i}paint(){let e=this.renderRoot.querySelector("canvas"),t=this.model;if(!e||!t||!this.width)return;let{from:s,to:i,w:r}=this.visible(),a=[t.info.cta,t.info.warp,this.label,this.width,this.height,s,i,this.revealed,devicePixelRatio,this.lane,this.other?.launch.policy].join();if(this.drawn===a&&this.drawnModel===t&&this.drawnOther===this.other)return;[this.drawn,this.drawnModel,this.drawnOther]=[a,t,this.other];let l=this.palette(),c=t.launch.warpSize,h=this.height,p=devicePixelRatio||1,u=Z+c*h+Rs;e.width=Math.round(this.width*p),e.height=Math.round(u*p),e.style.height=`${u}px`;let d=e.getContext("2d");d.scale(p,p),d.clearRect(0,0,this.width,u);let g=$=>se+($-s)*r,A=Math.min(i,t.steps,this.revealed+1);d.font="10px ui-monospace, Menlo, Consolas, monospace",d.textBaseline="middle",d.fillStyle=l.soft,d.textAlign="right";for(let $=0;$<c;$+=h>=10?1:8)d.fillText(String($),se-6,Z+$*h+Math.max(h/2,4));d.save(),d.beginPath(),d.rect(se,0,this.width-se,u),d.clip();let m=ht(t),[x,k]=[ut(m,Math.floor(s)),ut(m,Math.ceil(A)-1)];m.length>0&&k-x<6e3?this.paintRuns(d,l,x,k,A,g,r):m.length>0&&this.paintColumns(d,l,A,g,r,p),d.strokeStyle=l.edge,d.globalAlpha=.55,d.setLineDash([1,3]),d.lineWidth=1;for(let $=0;$<c;$++){if(!I(t.lanes,$))continue;let E=Oi(t,$);if(E>=A)continue;d.beginPath();let v=Z+$*h+h/2;d.moveTo(Math.max(g(E),se)+2,v),d.lineTo(g(A),v),d.stroke()}if(d.setLineDash([]),d.globalAlpha=1,t.steps>i&&this.revealed>=t.steps){let[$,E]=[g(i),Z/2];d.fillStyle=l.ink,d.beginPath(),d.moveTo($,E),d.lineTo($-9,E-6),d.lineTo($-9,E+6),d.fill()}A===t.steps&&i>t.steps&&this.paintEnd(d,l,g(t.steps),Math.max(r,6),c*h),d.textAlign="center",d.fillStyle=l.soft;let w=t.launch.instructions.some($=>$.line>=1e3)?30:t.launch.instructions.some($=>$.line>=100)?22:16;if(r>=w)for(let $=Math.max(0,Math.floor(s));$<A;$++)d.fillText(String(t.line($)),g($+.5),u-Rs/2+1);if(this.other){d.fillStyle=l.ink;for(let $=Math.max(0,Math.floor(s));$<Math.min(A,this.revealed+1);$++)sn(this.other,t,$)&&d.fillRect(g($),Z+c*h+1,Math.max(r-.5,.5),2)}this.lane>=0&&this.lane<c&&(d.strokeStyle=l.ink,d.lineWidth=1.5,d.strokeRect(se+.75,Z+this.lane*h-.75,g(A)-se-1.5,h+1)),d.restore()}paintRuns(e,t,s,i,r,a,l){let c=this.model,[h,p]=[c.launch.warpSize,this.height],u=l>=5?1:0,d=p>=4?.8:0,g=ht(c);for(let A=s;A<=i;A++){let m=g[A],x=Math.min(m.to,r),[k,w]=[a(m.from),a(x)],$=W(W(c.lanes,c.ended(m.from)),m.active),E=t.blocks[Math.max(m.block,0)%t.blocks.length];for(let[M,S]of[[$,t.idle],[m.active,E]])if(!z(M)){e.fillStyle=S;for(let L=0;L<h;L++)I(M,L)&&e.fillRect(k,Z+L*p,Math.max(w-k-u,.6),p-d)}if(l>=3){e.fillStyle=t.card,e.globalAlpha=.6;for(let M=m.from;M<x;M++){let S=c.branches(M)?void 0:W(c.active(M),c.executing(M));if(!(!S||z(S)))for(let L=0;L<h;L++)I(S,L)&&e.fillRect(a(M),Z+L*p,l-u,p-d)}e.globalAlpha=1}if(u&&l>=10){e.fillStyle=t.card;for(let M=m.from+1;M<x;M++)e.fillRect(a(M)-u,Z,u,h*p)}let v=c.launch.blocks[m.block]?.letter,y=Math.max(k,se);v&&w-y>=9&&(e.fillStyle=E,e.fillRect(y,1,Math.max(w-y-u,1),Z-4),e.fillStyle=t.on,e.textAlign="center",e.font="bold 11px ui-monospace, Menlo, Consolas, monospace",e.fillText(v,(y+Math.min(w,this.width))/2,Z/2-.5),e.font="10px ui-monospace, Menlo, Consolas, monospace")}}paintColumns(e,t,s,i,r,a){let l=this.model,[c,h]=[l.launch.warpSize,this.height],{from:p}=this.visible(),u=Math.ceil(i(s)-se);if(u<=0)return;let d=new ImageData(u,c),g=new Uint32Array(d.data.buffer),A=[...t.blocks,t.idle].map(x=>{let[k,w,$]=x.match(/[\d.]+/g).map(Number);return 255<<24|$<<16|w<<8|k});for(let x=0;x<u;x++){let k=Math.max(0,Math.floor(p+x/r)),w=Math.min(s,Math.max(k+1,Math.floor(p+(x+1)/r)));for(let $=0;$<c;$++){if(!I(l.lanes,$))continue;let E=0;for(let v=w-1;v>=k&&!E;v--)(($<32?l.activeLo[v]>>>$:l.activeHi[v]>>>$-32)&1)===1&&(E=A[Math.max(l.instructionAt(v).block,0)%t.blocks.length]);!E&&!I(l.ended(k),$)&&(E=A[A.length-1]),g[$*u+x]=E}}let m=document.createElement("canvas");[m.width,m.height]=[u,c],m.getContext("2d").putImageData(d,0,0),e.imageSmoothingEnabled=a<1,e.drawImage(m,se,Z,u,c*h)}paintEnd(e,t,s,i,r){let a=this.model,l=W(a.lanes,a.ended(a.steps));if(z(l))return;let c=a.launch.outcome==="stopped"||a.launch.outcome==="done";if(e.strokeStyle=t.ink,e.lineWidth=2,e.setLineDash(c?[3,4]:[]),e.beginPath(),e.moveTo(s+1,Z-2),e.lineTo(s+1,Z+r+2),e.stroke(),e.setLineDash([]),!c){e.save(),e.beginPath(),e.rect(s+1,Z-2,Math.max(i,10),r+4),e.clip(),e.lineWidth=1,e.beginPath();for(let h=-20;h<r+20;h+=6)e.moveTo(s,Z+h+14),e.lineTo(s+40,Z+h-26);e.stroke(),e.restore()}}pointed(e){let t=this.wrap.getBoundingClientRect(),{from:s,w:i}=this.visible(),r=e.clientX-t.left;return{x:r,step:Math.floor(s+(r-se)/i),lane:Math.floor((e.clientY-t.top-Z)/this.height)}}to(e){this.go(ie(e,0,Math.min(this.model.steps,this.revealed)))}zoom(e){let t=new CustomEvent("gemu-zoom",{detail:{view:e},bubbles:!0,composed:!0,cancelable:!0});this.dispatchEvent(t)&&(this.view=e)}scale(e){let{from:t,to:s}=this.visible(),i=(s-t)*e,r=this.model.steps+1;if(i>=r)return this.zoom(void 0);let a=ie(this.step+.5-i/2,0,r-i);this.zoom({from:Math.round(a),to:Math.round(a)+Math.max(4,Math.round(i))})}svg(){let{from:e,to:t}=this.visible();return Cs(this.model,this.label||this.model.launch.policy,Math.floor(e),Math.min(Math.ceil(t),this.model.steps,this.revealed+1),this.palette())}get fileName(){return`${this.model.launch.kernel}-${(this.label||this.model.launch.policy).replace(/\W+/g,"-")}`}saveSVG(){Is(new Blob([this.svg()],{type:"image/svg+xml"}),this.fileName+".svg")}async savePNG(){let e=new Image;e.src="data:image/svg+xml,"+encodeURIComponent(this.svg()),await e.decode();let t=document.createElement("canvas");[t.width,t.height]=[e.width*2,e.height*2],t.getContext("2d").drawImage(e,0,0,t.width,t.height),t.toBlob(s=>s&&Is(s,this.fileName+".png"))}difference(){let e=this.model;if(!this.other)return b;let t=ds(this.other,e);if(t<0)return f`<p class="differs">The same lanes in the same order as under <b>${this.otherLabel}</b>.</p>`;if(t>this.revealed)return b;let s=i=>t<i.steps?`line ${i.line(t)}`:"nothing more";return f`<p class="differs">As under <b>${this.otherLabel}</b> up to step ${t}; then here <b>${s(e)}</b> runs, there ${s(this.other)}. The marks below show the steps that differ.</p>`}table(){let e=this.model,t=ht(e),s=t.length?Math.min(t.length,ut(t,Math.min(this.revealed,e.steps-1))+1):0,i=t.length?ut(t,Math.min(this.step,e.steps-1)):0,r=ie(this.tableFrom>=0?this.tableFrom:i-Ue/2,0,Math.max(0,s-Ue)),a=Math.min(s,r+Ue),l=c=>()=>this.tableFrom=ie(c,0,Math.max(0,s-Ue));return f`<div class="scroll" tabindex="0" role="region" aria-label="Table of ${this.label}">
<table>
<caption class="hidden">Every step of every lane, ${this.label}</caption>
<thead><tr><th scope="col">steps</th><th scope="col">block</th><th scope="col">lines</th><th scope="col">lanes that run</th><th scope="col">the others</th></tr></thead>
<tbody>
${t.slice(r,a).map((c,h)=>{let p=zs(e,c);return f`<tr class=${r+h===i&&this.step<e.steps?"now":""}><td>${p.steps}</td><td>${p.letter?f`<span class="letter" style=${le(c.block)}>${p.letter}</span>`:""}</td><td>${p.lines}</td><td>${p.active}</td><td>${p.others||"–"}</td></tr>`})}
          </tbody>
        </table>
      </div>
      ${s>Ue?f`<div class="pages"><button ?disabled=${r===0} @click=${l(r-Ue)}>Earlier</button><button ?disabled=${a>=s} @click=${l(r+Ue)}>Later</button><span>rows ${r+1}–${a} of ${s}</span></div>`:b}
      ${this.revealed>=e.steps?f`<p>${lt(e)}</p>`:b}`}render(){let e=this.model;if(this.failure)return f`<p class="bad">${this.failure}</p>`;if(!e)return b;let{from:t,to:s,w:i}=this.visible(),r=this.revealed<e.steps,a=ie(this.step,0,e.steps),l=se+(a-t)*i,c=a>=t&&a<=s,h=r?"done":e.launch.outcome,p=t>0||s<e.steps,u=this.label||e.launch.policy;return f`<div class="head">
<h3><slot name="title">${u}</slot></h3>
${h==="deadlock"||h==="trap"?f`<span class="bad">${h==="deadlock"?"✕ deadlock":"✕ stopped by an error"}</span>`:b}
        ${h==="stopped"?f`<span class="soft">${ct(e.launch)}</span>`:b}
        ${(h==="deadlock"||h==="trap")&&s<e.steps?f`<span class="soft">… and so on up to step ${e.steps.toLocaleString("en")}</span>`:b}
        <p>${r?"Predict which lanes run next: the future is not drawn yet.":ys(e)}</p>
        <div class="tools">
          ${p?f`<button @click=${()=>this.scale(2)} aria-label="Zoom out, ${u}" title="Zoom out (−)">−</button><button @click=${()=>this.scale(.5)} aria-label="Zoom in, ${u}" title="Zoom in (+)">+</button><button @click=${()=>this.zoom({from:0,to:e.steps+1})} title="Show all steps (0)">all steps</button>`:b}
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
        aria-valuetext=${at(Re(e,a,r&&a>=this.revealed))}
        @pointerdown=${this.down}
        @pointermove=${this.move}
        @pointerup=${this.up}
        @pointercancel=${()=>this.press=this.dragged=void 0}
        @pointerleave=${()=>this.send("gemu-hover",{text:""})}
        @keydown=${this.key}
      >
        <canvas></canvas>
        ${[...this.marked(t,s)].map(d=>f`<div class="lit" style="left:${se+(d.from-t)*i}px;width:${Math.max(1,(d.to-d.from)*i)}px"></div>`)}
        ${c?f`<div class="head-line" style="left:${l-1}px;width:${Math.max(i+1,5)}px"></div>`:b}
        ${this.dragged?f`<div class="drag" style="left:${se+(this.dragged.from-t)*i}px;width:${(this.dragged.to-this.dragged.from)*i}px"></div>`:b}
      </div>
      ${this.difference()} ${this.open?this.table():b}`}*marked(e,t){let s=this.model;if(this.lines.size===0)return;let i,r=0;for(let a=Math.max(0,Math.floor(e));a<Math.min(t,s.steps,this.revealed+1)&&r<300;a++)this.lines.has(s.line(a))&&(i&&i.to===a?i.to=a+1:(i&&(yield i),i={from:a,to:a+1},r++));i&&(yield i)}};function Oi(o,n){if(!I(o.ended(o.steps),n))return 1/0;let[e,t]=[0,o.steps];for(;e<t;){let s=e+t>>>1;I(o.ended(s),n)?t=s:e=s+1}return e}function Is(o,n){let e=document.createElement("a");e.href=URL.createObjectURL(o),e.download=n,e.click(),setTimeout(()=>URL.revokeObjectURL(e.href),1e4)}customElements.define("gemu-strip",$n);export{Ee as Recording,C as RecordingError,qe as launchesOf,Re as sentence,at as sentenceText};
