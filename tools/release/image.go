package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	layers "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"gemu/internal/cleanup"
	"gemu/internal/version"
)

// image is the image of a processor: the files below /usr.
type image struct {
	processor string
	files     tree
}

// writeImage writes an OCI image layout as a tar archive, with an image for each processor.
func writeImage(name string, images []image, date time.Time) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, i := range images {
		built, err := i.build(date)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: built, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: i.processor}}})
	}
	dir, remove, err := cleanup.Dir("", "gemu-image-*")
	if err != nil {
		return err
	}
	defer remove()
	// The layout names one index, which has the images of all processors.
	at, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := at.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": imageName()})); err != nil {
		return err
	}
	files, err := readTree(dir)
	if err != nil {
		return err
	}
	var to bytes.Buffer
	if err := writeTar(&to, files, "", date); err != nil {
		return err
	}
	return os.WriteFile(filepath.FromSlash(name), to.Bytes(), 0o666)
}

// imageName returns the name under which tools load the image.
func imageName() string { return "gemu:" + version.Number() }

// build makes the image of a processor: a single layer without a base. Its entry point is the command.
func (i image) build(date time.Time) (v1.Image, error) {
	var data bytes.Buffer
	if err := writeTar(&data, i.files, "usr/", date); err != nil {
		return nil, err
	}
	layer, err := layers.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data.Bytes())), nil },
		layers.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	built, err := mutate.Append(base, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: date}, CreatedBy: "gemu"}})
	if err != nil {
		return nil, err
	}
	config, err := built.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", i.processor, v1.Time{Time: date}
	config.Config.Entrypoint = []string{"/usr/bin/gemu"}
	config.Config.Cmd = []string{"--help"}
	config.Config.WorkingDir = "/work"
	config.Config.Env = []string{"PATH=" + strings.Join([]string{"/usr/local/bin", "/usr/bin", "/bin"}, ":"), "TMPDIR=/tmp"}
	// The license of gemu belongs here (org.opencontainers.image.licenses). The owner has chosen none yet.
	config.Config.Labels = map[string]string{"org.opencontainers.image.title": "gemu", "org.opencontainers.image.version": version.Number()}
	return mutate.ConfigFile(built, config)
}
