package inputs

import "encoding/binary"

// The layout of a database of SQLite (https://sqlite.org/fileformat2.html).
const (
	pageSize   = 512
	leafTable  = 0x0d // 1.6: the type of a page with rows
	headerSize = 100  // 1.3: of the file, at the beginning of its first page
)

// sqlite returns a database with one table, "notes", of two rows.
func sqlite() []byte {
	const schema = "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, price REAL)"
	all := make([]byte, 2*pageSize)
	copy(all, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(all[16:], pageSize)
	copy(all[18:], []byte{1, 1, 0, 64, 32, 32}) // journal of the legacy sort, nothing reserved, fractions as they must be
	for at, value := range map[int]uint32{
		24: 1, 28: 2, // the change counter, pages
		40: 1, 44: 4, 56: 1, // the schema's cookie and format, UTF-8
		92: 1, 96: 3045000, // valid for change 1, the version of SQLite
	} {
		binary.BigEndian.PutUint32(all[at:], value)
	}
	fillLeaf(all[:pageSize], headerSize, row(1, "table", "notes", "notes", int8(2), schema))
	fillLeaf(all[pageSize:], 0, row(1, nil, "milk", int8(1)), row(2, nil, "bread", int8(2)))
	return all
}

// fillLeaf fills in a page with rows (1.6); its header is at an offset.
func fillLeaf(page []byte, header int, rows ...[]byte) {
	content := len(page)
	page[header] = leafTable
	binary.BigEndian.PutUint16(page[header+3:], uint16(len(rows)))
	for i, cell := range rows {
		content -= len(cell)
		copy(page[content:], cell)
		binary.BigEndian.PutUint16(page[header+8+2*i:], uint16(content))
	}
	binary.BigEndian.PutUint16(page[header+5:], uint16(content))
}

// row returns a cell of a table: its length, its key and its record (2.1), which begins with
// the types of its values. A value is nil, an int8 or a text of at most 8185 bytes.
func row(key byte, values ...any) []byte {
	var types, body []byte
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			types = append(types, 0)
		case int8:
			types, body = append(types, 1), append(body, byte(v))
		case string:
			types, body = append(types, varint(13+2*len(v))...), append(body, v...)
		}
	}
	record := append(append([]byte{byte(len(types) + 1)}, types...), body...)
	return append(append(varint(len(record)), key), record...)
}

// varint encodes a number below 1<<14 in groups of seven bits, the highest first.
func varint(n int) []byte {
	if n < 1<<7 {
		return []byte{byte(n)}
	}
	return []byte{byte(n>>7) | 0x80, byte(n & 0x7f)}
}
