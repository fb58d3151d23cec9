package site

// This file has the example kernels of docs/learn as the page reads them.

import (
	"gemu/docs/learn"
	"gemu/play"
)

// Example is an example kernel, with the moment that answers its question.
type Example struct {
	ID       string       `json:"id"`       // name of its files in docs/learn
	Title    string       `json:"title"`    // heading of its page
	Question string       `json:"question"` // in Markdown
	Answer   string       `json:"answer"`   // in Markdown
	Text     string       `json:"text"`     // the page of docs/learn, in Markdown
	Policies []string     `json:"policies"` // reconvergence policies to compare, the first in the Request
	Request  play.Request `json:"request"`  // the run
	CUDA     string       `json:"cuda"`     // the same program in CUDA C++; the PTX names its lines
	Moment   Moment       `json:"moment"`   // the moment that answers the question
}

// Moment is a step of a run under a policy.
type Moment struct {
	Policy string `json:"policy"` // reconvergence policy, one of Example.Policies
	Step   int    `json:"step"`   // number of the step, from 1
	Warp   int    `json:"warp"`   // index of the warp in the first CTA
}

// Examples returns the examples, in the order of the course.
func Examples() []Example {
	list := make([]Example, 0, len(learn.Examples))
	for _, x := range learn.Examples {
		e := Example{
			ID: x.ID, Title: x.Title, Question: x.Question, Answer: x.Answer, Text: x.Text, Policies: x.Policies, CUDA: x.CUDA, Moment: Moment(x.Moment),
			Request: play.Request{Name: x.ID + ".ptx", Source: x.PTX, Kernel: x.Kernel, Grid: x.Grid, Block: x.Block, Arguments: x.Arguments, Memory: true},
		}
		if x.CUDA != "" {
			e.Request.Files = map[string]string{x.ID + ".cu": x.CUDA}
		}
		if len(x.Policies) > 0 {
			e.Request.Policy = x.Policies[0]
		}
		list = append(list, e)
	}
	return list
}
