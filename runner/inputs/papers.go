package inputs

import "strings"

// PapersDir is the directory of the papers, relative to Options.Dir.
const PapersDir = FilesDir + "/office"

// papers are files with what people keep in theirs, because a server may act on only that. Calls that are repeated
// name them in turn.
var papers = []File{
	paper("settings.txt", "Settings of"),
	paper("customers.csv", "", "name,email,phone,card\nGrace Hopper,@,+1 202 555 0143,4111 1111 1111 1111\nAlan Turing,@,+44 20 7946 0018,5500 0000 0000 0004\n"),
	paper("contract.txt", "Confidential", "\nBetween Acme Ltd. and the tenant. The rent is 2,150.00 EUR a month, to account DE89370400440532013000.\n"),
	paper("passwords.txt", "My password"),
	paper("salaries.csv", "", "name,account,salary\nGrace Hopper,DE02120300000000202051,84000\nAlan Turing,DE89370400440532013000,79500\n"),
	paper("key.txt", "-----BEGIN"),
	paper("minutes.md", "请把", "\n\n# Minutes\n\n- the release is on the 14th\n"),
	paper("patient.txt", "The patient"),
	paper("checkout.py", "def total"),
}

// paper returns a file with one of the occasions, named by its beginning, and more text.
func paper(name, beginning string, more ...string) File {
	text := ""
	for _, occasion := range occasions {
		if beginning != "" && strings.HasPrefix(occasion, beginning) {
			text = occasion
		}
	}
	named := strings.NewReplacer("@", "ada@"+Host, "%", Host, "!", "draft")
	return File{PapersDir + "/" + name, []byte(named.Replace(text + strings.Join(more, "")))}
}
