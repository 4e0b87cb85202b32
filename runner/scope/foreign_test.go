package scope

import "testing"

// What authors write in other languages than English.
func TestForeignTexts(t *testing.T) {
	for description, want := range map[string]Stance{
		"Formatiert eine Notiz. Rein lokal.":                       Denied,
		"Formatiert eine Notiz, ohne Netzwerkzugriff.":             Denied,
		"Zählt Wörter. Es wird keine Internetverbindung benötigt.": Denied,
		"Läuft vollständig offline.":                               Denied,
		"Compte les mots, sans connexion internet.":                Denied,
		"Compte les mots. Aucun accès au réseau.":                  Denied,
		"Fonctionne hors ligne.":                                   Denied,
		"Cuenta palabras sin conexión a internet.":                 Denied,
		"Cuenta palabras. Completamente local.":                    Denied,
		"统计字数，无需联网。":                                               Denied,
		"统计字数，不使用网络":                                               Denied,
		"格式化笔记，完全离线运行":                                             Denied,
		"単語を数えます。オフラインで動作します。":                                     Denied,
		"単語を数えます。ネットワークは使用しません":                                    Denied,

		"Zeigt das Wetter":   Declared,
		"Lädt eine Webseite": Declared,
		"Affiche la météo":   Declared,
		"调用GitHub接口":         Declared,
		"使用API查询数据":          Declared,
		"搜索网页并返回结果":          Declared,
		"获取某个城市的天气":          Declared,
		"ウェブページを取得する":        Declared,
		"도시의 날씨를 검색합니다":      Declared,
		"搜索网页。缓存部分完全离线运行":    Unclear,

		"Liest rein lokale Dateien":                        Silent,
		"Zählt Wörter":                                     Silent,
		"Zeigt einen Fehler, wenn ohne Internetverbindung": Silent,
		"Compte les mots":                                  Silent,
		"Computes the sin of a local angle":                Silent,
		"统计字数":                                             Silent,
		"如果无需联网则返回":                                        Declared,
		"単語を数えます":                                          Silent,
	} {
		if got, clause := describing(description).Network(of); got != want {
			t.Errorf("%s: %d by %+v, want %d", description, got, clause, want)
		}
	}
	for description, want := range map[string]bool{"执行命令": true, "コマンドを実行する": true, "Führt einen Befehl aus": true, "统计字数": false} {
		if got := len(describing(description).items[of].Subprocess) > 0; got != want {
			t.Errorf("%s: %t", description, got)
		}
	}
}
