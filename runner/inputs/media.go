package inputs

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"io"
)

// picture returns an image of 16 by 16 pixels in the format of an encoder.
func picture(encode func(io.Writer, image.Image) error) []byte {
	m := image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{color.White, color.RGBA{R: 0x33, G: 0x66, B: 0x99, A: 0xff}})
	for i := range m.Pix {
		m.Pix[i] = uint8(i / 8 % 2)
	}
	var all bytes.Buffer
	_ = encode(&all, m) // to memory: no error
	return all.Bytes()
}

// sound returns a tenth of a second of silence, as a RIFF WAVE file of 8 kHz with 8 bits.
func sound() []byte {
	const rate, samples = 8000, 800
	all := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	all = binary.LittleEndian.AppendUint32(all, rate)
	all = binary.LittleEndian.AppendUint32(all, rate)
	all = append(all, "\x01\x00\x08\x00data"...)
	all = binary.LittleEndian.AppendUint32(all, samples)
	all = append(all, bytes.Repeat([]byte{0x80}, samples)...)
	binary.LittleEndian.PutUint32(all[4:], uint32(len(all)-8))
	return all
}
