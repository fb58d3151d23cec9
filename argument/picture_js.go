package argument

import "errors"

// errNoPictures is the error of the functions of pictures: a page has no files, so its download need not contain package
// image/png.
var errNoPictures = errors.New("pictures are not supported in a browser")

// DecodePNG returns an error.
func DecodePNG([]byte, string) (*Array, error) { return nil, errNoPictures }

// EncodePNG returns an error.
func EncodePNG(*Array) ([]byte, error) { return nil, errNoPictures }
