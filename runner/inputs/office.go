package inputs

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"strings"
)

// part is one file of a package in the sense of ECMA-376-2 (Open Packaging
// Conventions), or of any zip archive.
type part struct{ name, content string }

// zipped packs files without dates, so that the same files give the same bytes.
func zipped(parts ...part) []byte {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, p := range parts {
		file, err := w.Create(p.name)
		if err == nil {
			_, _ = file.Write([]byte(p.content)) // to memory: no error
		}
	}
	_ = w.Close() // as above
	return packed.Bytes()
}

// tarred does the same in a tar archive.
func tarred(parts ...part) []byte {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, p := range parts {
		if w.WriteHeader(&tar.Header{Name: p.name, Mode: 0o644, Size: int64(len(p.content)), Typeflag: tar.TypeReg}) == nil {
			_, _ = w.Write([]byte(p.content)) // to memory: no error
		}
	}
	_ = w.Close() // as above
	return packed.Bytes()
}

func gzipped(content []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(content) // to memory: no error
	_ = w.Close()           // as above
	return packed.Bytes()
}

const (
	xmlHead       = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	openXML       = "http://schemas.openxmlformats.org/"
	relationships = openXML + "officeDocument/2006/relationships"
	// OpenDocument is the prefix of the media types of Office.
	OpenDocument  = "application/vnd.openxmlformats-officedocument."
	relationTypes = "application/vnd.openxmlformats-package.relationships+xml"
	drawing       = openXML + "drawingml/2006/main"
)

// contentTypes lists the parts of a package with their types below OpenDocument.
func contentTypes(parts ...part) part {
	var all strings.Builder
	all.WriteString(xmlHead + `<Types xmlns="` + openXML + `package/2006/content-types"><Default Extension="rels" ContentType="` + relationTypes +
		`"/><Default Extension="xml" ContentType="application/xml"/>`)
	for _, p := range parts {
		all.WriteString(`<Override PartName="/` + p.name + `" ContentType="` + OpenDocument + p.content + `+xml"/>`)
	}
	all.WriteString(`</Types>`)
	return part{"[Content_Types].xml", all.String()}
}

// relations lists what a part refers to: rId1, rId2 and so on, each a target and its type.
func relations(name string, targets ...part) part {
	var all strings.Builder
	all.WriteString(xmlHead + `<Relationships xmlns="` + openXML + `package/2006/relationships">`)
	for i, t := range targets {
		all.WriteString(`<Relationship Id="rId` + string(rune('1'+i)) + `" Type="` + relationships + "/" + t.content + `" Target="` + t.name + `"/>`)
	}
	all.WriteString(`</Relationships>`)
	return part{name, all.String()}
}

// workbook returns a spreadsheet (ECMA-376-1, SpreadsheetML) with two sheets: "Sheet1"
// has a header and two rows, "Sheet2" can be removed.
func workbook() []byte {
	const main = `xmlns="` + openXML + `spreadsheetml/2006/main"`
	sheet := func(size, cells string) string {
		return xmlHead + `<worksheet ` + main + `><dimension ref="` + size + `"/><sheetViews><sheetView workbookViewId="0"/></sheetViews><sheetData>` + cells + `</sheetData></worksheet>`
	}
	text := func(at, value string) string {
		return `<c r="` + at + `" t="inlineStr"><is><t>` + value + `</t></is></c>`
	}
	number := func(at, value string) string { return `<c r="` + at + `"><v>` + value + `</v></c>` }
	return zipped(
		contentTypes(part{"xl/workbook.xml", "spreadsheetml.sheet.main"}, part{"xl/worksheets/sheet1.xml", "spreadsheetml.worksheet"},
			part{"xl/worksheets/sheet2.xml", "spreadsheetml.worksheet"}, part{"xl/styles.xml", "spreadsheetml.styles"}),
		relations("_rels/.rels", part{"xl/workbook.xml", "officeDocument"}),
		part{"xl/workbook.xml", xmlHead + `<workbook ` + main + ` xmlns:r="` + relationships +
			`"><bookViews><workbookView/></bookViews><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/><sheet name="Sheet2" sheetId="2" r:id="rId2"/></sheets></workbook>`},
		relations("xl/_rels/workbook.xml.rels", part{"worksheets/sheet1.xml", "worksheet"}, part{"worksheets/sheet2.xml", "worksheet"},
			part{"styles.xml", "styles"}),
		part{"xl/styles.xml", xmlHead + `<styleSheet ` + main + `><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>` +
			`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
			`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
			`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
			`<cellXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs>` +
			`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`},
		part{"xl/worksheets/sheet1.xml", sheet("A1:C3", `<row r="1">`+text("A1", "id")+text("B1", "name")+text("C1", "price")+`</row>`+
			`<row r="2">`+number("A2", "1")+text("B2", "milk")+number("C2", "1.2")+`</row>`+
			`<row r="3">`+number("A3", "2")+text("B3", "bread")+number("C3", "2.5")+`</row>`)},
		part{"xl/worksheets/sheet2.xml", sheet("A1", `<row r="1">`+text("A1", "Nothing yet")+`</row>`)},
	)
}

// document returns a text document (ECMA-376-1, WordprocessingML) with a heading, two
// paragraphs and a table.
func document() []byte {
	paragraph := func(style, text string) string {
		if style != "" {
			style = `<w:pPr><w:pStyle w:val="` + style + `"/></w:pPr>`
		}
		return `<w:p>` + style + `<w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	cell := func(text string) string {
		return `<w:tc><w:tcPr><w:tcW w:w="2000" w:type="dxa"/></w:tcPr>` + paragraph("", text) + `</w:tc>`
	}
	row := func(left, right string) string { return `<w:tr>` + cell(left) + cell(right) + `</w:tr>` }
	const main = `xmlns:w="` + openXML + `wordprocessingml/2006/main"`
	return zipped(
		contentTypes(part{"word/document.xml", "wordprocessingml.document.main"}, part{"word/styles.xml", "wordprocessingml.styles"}),
		relations("_rels/.rels", part{"word/document.xml", "officeDocument"}),
		relations("word/_rels/document.xml.rels", part{"styles.xml", "styles"}),
		part{"word/styles.xml", xmlHead + `<w:styles ` + main + `><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>` +
			`<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/></w:style></w:styles>`},
		part{"word/document.xml", xmlHead + `<w:document ` + main + `><w:body>` + paragraph("Heading1", "Notes") +
			paragraph("", "Shopping list: milk and bread.") + paragraph("", "Nothing else is needed.") +
			`<w:tbl><w:tblPr><w:tblW w:w="4000" w:type="dxa"/></w:tblPr><w:tblGrid><w:gridCol w:w="2000"/><w:gridCol w:w="2000"/></w:tblGrid>` +
			row("name", "price") + row("milk", "1.20") + `</w:tbl>` + paragraph("", "End") +
			`<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr></w:body></w:document>`},
	)
}

// presentation returns a slide show (ECMA-376-1, PresentationML) of one slide with a title.
func presentation() []byte {
	const spaces = `xmlns:a="` + drawing + `" xmlns:r="` + relationships + `" xmlns:p="` + openXML + `presentationml/2006/main"`
	const group = `<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>`
	title := func(text string) string {
		return `<p:cSld><p:spTree>` + group + `<p:sp><p:nvSpPr><p:cNvPr id="2" name="Title 1"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr>` +
			`<p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="500000" y="500000"/><a:ext cx="8000000" cy="1000000"/></a:xfrm></p:spPr>` +
			`<p:txBody><a:bodyPr/><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld>`
	}
	const mapped = `<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>`
	var colours strings.Builder
	for _, name := range []string{"dk1", "lt1", "dk2", "lt2", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6", "hlink", "folHlink"} {
		colours.WriteString(`<a:` + name + `><a:srgbClr val="336699"/></a:` + name + `>`)
	}
	const font, solid, line = `<a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/>`,
		`<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>`, `<a:ln><a:solidFill><a:schemeClr val="phClr"/></a:solidFill></a:ln>`
	const effect = `<a:effectStyle><a:effectLst/></a:effectStyle>`
	return zipped(
		contentTypes(part{"ppt/presentation.xml", "presentationml.presentation.main"}, part{"ppt/slideMasters/slideMaster1.xml", "presentationml.slideMaster"},
			part{"ppt/slideLayouts/slideLayout1.xml", "presentationml.slideLayout"}, part{"ppt/slides/slide1.xml", "presentationml.slide"},
			part{"ppt/theme/theme1.xml", "theme"}),
		relations("_rels/.rels", part{"ppt/presentation.xml", "officeDocument"}),
		relations("ppt/_rels/presentation.xml.rels", part{"slideMasters/slideMaster1.xml", "slideMaster"}, part{"slides/slide1.xml", "slide"}),
		relations("ppt/slideMasters/_rels/slideMaster1.xml.rels", part{"../slideLayouts/slideLayout1.xml", "slideLayout"}, part{"../theme/theme1.xml", "theme"}),
		relations("ppt/slideLayouts/_rels/slideLayout1.xml.rels", part{"../slideMasters/slideMaster1.xml", "slideMaster"}),
		relations("ppt/slides/_rels/slide1.xml.rels", part{"../slideLayouts/slideLayout1.xml", "slideLayout"}),
		part{"ppt/presentation.xml", xmlHead + `<p:presentation ` + spaces + `><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst>` +
			`<p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`},
		part{"ppt/slideMasters/slideMaster1.xml", xmlHead + `<p:sldMaster ` + spaces + `>` + title("Title") +
			`<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" ` +
			`accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>` +
			`<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`},
		part{"ppt/slideLayouts/slideLayout1.xml", xmlHead + `<p:sldLayout ` + spaces + ` type="titleOnly">` +
			strings.Replace(title("Title"), "<p:cSld>", `<p:cSld name="Title Only">`, 1) + mapped + `</p:sldLayout>`},
		part{"ppt/slides/slide1.xml", xmlHead + `<p:sld ` + spaces + `>` + title("Notes") + mapped + `</p:sld>`},
		part{"ppt/theme/theme1.xml", xmlHead + `<a:theme xmlns:a="` + drawing + `" name="Plain"><a:themeElements><a:clrScheme name="Plain">` + colours.String() +
			`</a:clrScheme><a:fontScheme name="Plain"><a:majorFont>` + font + `</a:majorFont><a:minorFont>` + font + `</a:minorFont></a:fontScheme>` +
			`<a:fmtScheme name="Plain"><a:fillStyleLst>` + strings.Repeat(solid, 3) + `</a:fillStyleLst><a:lnStyleLst>` + strings.Repeat(line, 3) +
			`</a:lnStyleLst><a:effectStyleLst>` + strings.Repeat(effect, 3) + `</a:effectStyleLst><a:bgFillStyleLst>` + strings.Repeat(solid, 3) +
			`</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`},
	)
}
