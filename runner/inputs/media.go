package inputs

import (
	"bytes"
	"encoding/binary"
	"fmt"
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

// portable returns a PDF (ISO 32000-1, 7.5) of one page with one line of text.
func portable() []byte {
	const text = "BT /F1 18 Tf 72 720 Td (Shopping list: milk and bread.) Tj ET"
	var all bytes.Buffer
	all.WriteString("%PDF-1.4\n")
	var at []int
	for i, object := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(text), text),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		"<< /Title (Notes) /Author (Probe) >>",
	} {
		at = append(at, all.Len())
		fmt.Fprintf(&all, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := all.Len()
	fmt.Fprintf(&all, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&all, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&all, "trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return all.Bytes()
}
