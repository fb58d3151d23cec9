package report

// This file writes SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), which code hosts show next to the source.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"gemu/sanitize/finding"
)

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name          string      `json:"name"`
		Version       string      `json:"version,omitempty"`
		Rules         []sarifRule `json:"rules"`
		Notifications []sarifRule `json:"notifications,omitempty"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Name  string    `json:"name"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Arguments  []string `json:"arguments,omitempty"`
		Successful bool     `json:"executionSuccessful"`
		Status     int      `json:"exitCode"`

		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Descriptor sarifReference  `json:"descriptor"`
		Level      string          `json:"level"`
		Message    sarifText       `json:"message"`
		Locations  []sarifLocation `json:"locations,omitempty"`
	}
	sarifReference struct {
		ID    string `json:"id"`
		Index int    `json:"index"`
	}
	sarifResult struct {
		Rule         string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Baseline     string             `json:"baselineState,omitempty"`
		Occurrences  int                `json:"occurrenceCount,omitempty"`
	}
	sarifLocation struct {
		ID       int            `json:"id,omitempty"`
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Full string `json:"fullyQualifiedName,omitempty"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification,omitempty"`
	}
)

// SARIF writes the report as SARIF 2.1.0. version is that of gemu. A finding has its place in the user's source if the PTX names it,
// otherwise in the PTX. Equal findings are one result. A finding without a file, such as a leak, is a notification: GitHub rejects a log in which a result has no file.
// Suppressed findings have a suppression; with a baseline known findings have the state "unchanged" and all other ones "new". Notifications
// have no states: one that does not count has the level "none".
func (r *Report) SARIF(w io.Writer, version string) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: "gemu", Version: version, Rules: []sarifRule{}}}, Results: []sarifResult{}, ColumnKind: "unicodeCodePoints",
		Invocations: []sarifInvocation{{Arguments: r.Program, Successful: r.Status == 0, Status: r.Status}},
	}
	invocation := &run.Invocations[0]
	levels := map[finding.Severity]string{finding.Error: "error", finding.Notice: "note"}
	for _, g := range r.groups() {
		f := g.Item
		if r.spot(f, &f.Place).file == "" {
			n := sarifNotification{Level: "none", Message: sarifText{r.message(f)}, Locations: r.sarifLocations(f, &f.Place, 0)}
			n.Descriptor.ID, n.Descriptor.Index = addRule(&run.Tool.Driver.Notifications, f)
			if f.State == StateNew {
				n.Level = levels[f.Severity]
				invocation.Successful = invocation.Successful && f.Severity != finding.Error // as the standard demands
			}
			invocation.Notifications = append(invocation.Notifications, n)
			continue
		}
		id, n := addRule(&run.Tool.Driver.Rules, f)
		result := sarifResult{
			Rule: id, RuleIndex: n, Level: levels[f.Severity],
			Message: sarifText{r.message(f)}, Locations: r.sarifLocations(f, &f.Place, 0), Fingerprints: map[string]string{"gemu/1": fingerprint(f)}, Occurrences: g.count,
		}
		if f.OtherPlace != nil {
			result.Related = r.sarifLocations(f, f.OtherPlace, 1)
		}
		if f.State == StateSuppressed {
			result.Suppressions = []sarifSuppression{{Kind: "external", Justification: f.Rule.Reason}}
		}
		if f.State == StateKnown {
			result.Baseline = "unchanged"
		} else if r.compared {
			result.Baseline = "new"
		}
		run.Results = append(run.Results, result)
	}
	b, err := json.MarshalIndent(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// addRule adds the kind of a finding to a list, unless it is there, and returns its ID and index.
func addRule(list *[]sarifRule, f *Item) (id string, index int) {
	id = ruleID(f)
	index = slices.IndexFunc(*list, func(r sarifRule) bool { return r.ID == id })
	if index < 0 {
		index = len(*list)
		*list = append(*list, sarifRule{ID: id, Name: ruleName(f), Short: sarifText{f.title()}})
	}
	return id, index
}

// ruleID names the kind of a finding: "race/write-after-write".
func ruleID(f *Item) string { return f.Tool + "/" + strings.ReplaceAll(f.Kind, " ", "-") }

// ruleName is ruleID as an identifier: "RaceWriteAfterWrite".
func ruleName(f *Item) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(f.Tool+" "+f.Kind, func(c rune) bool { return c == ' ' || c == '-' || c == '/' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// sarifLocations returns the location of a place of a finding; id is that of a related location. A place without a file and a kernel has none.
func (r *Report) sarifLocations(f *Item, p *finding.Place, id int) []sarifLocation {
	l := sarifLocation{ID: id}
	if s := r.spot(f, p); s.file != "" {
		l.Physical = &sarifPhysical{Artifact: sarifArtifact{fileURI(s.file)}}
		if s.line > 0 {
			l.Physical.Region = &sarifRegion{Line: s.line, Column: s.column}
		}
	}
	if p.Kernel != "" {
		l.Logical = []sarifLogical{{Name: finding.Name(p.Kernel), Full: p.Kernel, Kind: "function"}}
	}
	if l.Physical == nil && l.Logical == nil {
		return nil
	}
	l.Message = &sarifText{p.Role}
	if p.Instr != "" {
		l.Message.Text += ": " + p.Instr
	}
	return []sarifLocation{l}
}

// fileURI returns the URI of a file: relative for a relative path.
func fileURI(file string) string {
	file = filepath.ToSlash(file)
	if strings.HasPrefix(file, "/") {
		return (&url.URL{Scheme: "file", Path: file}).String()
	}
	return (&url.URL{Path: file}).String()
}

// fingerprint identifies a finding over changes elsewhere in its file: it is a hash of the fields of a baseline.
func fingerprint(f *Item) string {
	h := sha256.New()
	for _, name := range baselineFields {
		fmt.Fprintf(h, "%s=%q\n", name, baselinePattern(name, &f.Finding))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
