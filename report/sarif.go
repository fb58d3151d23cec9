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
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
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
	}
	sarifResult struct {
		Rule         string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
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
// otherwise in the PTX. Suppressed findings have a suppression, known ones the baseline state "unchanged"; with a baseline all other
// findings are "new".
func (r *Report) SARIF(w io.Writer, version string) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: "gemu", Version: version, Rules: []sarifRule{}}}, Results: []sarifResult{}, ColumnKind: "unicodeCodePoints",
		Invocations: []sarifInvocation{{Arguments: r.Program, Successful: r.Status == 0, Status: r.Status}},
	}
	rules := map[string]int{}
	for i := range r.Findings {
		f := &r.Findings[i]
		id := ruleID(f)
		n, ok := rules[id]
		if !ok {
			n = len(rules)
			rules[id] = n
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: id, Name: ruleName(f), Short: sarifText{f.title()}})
		}
		result := sarifResult{
			Rule: id, RuleIndex: n, Level: map[finding.Severity]string{finding.Error: "error", finding.Notice: "note"}[f.Severity],
			Message: sarifText{f.message()}, Locations: sarifLocations(&f.Place, 0), Fingerprints: map[string]string{"gemu/1": fingerprint(f)}, Occurrences: max(f.Count, 1),
		}
		if f.OtherPlace != nil {
			result.Related = sarifLocations(f.OtherPlace, 1)
		}
		switch {
		case f.State == StateSuppressed:
			result.Suppressions = []sarifSuppression{{Kind: "external", Justification: f.Rule.Reason}}
		case f.State == StateKnown:
			result.Baseline = "unchanged"
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

// sarifLocations returns the location of a place; id is that of a related location. A place without a file and a kernel has none.
func sarifLocations(p *finding.Place, id int) []sarifLocation {
	l := sarifLocation{ID: id}
	if s := spotOf(p); s.file != "" {
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
	return (&url.URL{Path: file}).EscapedPath()
}

// fingerprint identifies a finding over changes elsewhere in its file: it is a hash of the fields of a baseline.
func fingerprint(f *Item) string {
	h := sha256.New()
	for _, name := range baselineFields {
		fmt.Fprintf(h, "%s=%q\n", name, fieldValues[name](&f.Finding))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
