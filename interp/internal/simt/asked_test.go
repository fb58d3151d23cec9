package simt

// Asked is the backend of machine code, of which it counts how often Go asks it to run a warp. It is for launches on one
// thread.
var Asked = new(asked)

type asked struct {
	machineCode
	Times int
}

func (a *asked) run(w *warp, budget int) reason {
	a.Times++
	return a.machineCode.run(w, budget)
}

func (a *asked) checks() runner { return &askedChecked{times: &a.Times} }

// askedChecked is it in check mode.
type askedChecked struct {
	checkedCode
	times *int
}

func (a *askedChecked) run(w *warp, budget int) reason {
	*a.times++
	return a.checkedCode.run(w, budget)
}
