// Package docs holds the documents that the command prints.
package docs

import _ "embed"

// Glossary is glossary.md: tables of terms in Markdown.
//
//go:embed glossary.md
var Glossary string
